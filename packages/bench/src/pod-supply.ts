import type { JsonValue } from '@heddle/cni';
import { BenchError } from './bench-error.ts';
import type { Pod } from './calls.ts';
import type { BenchNode } from './node.ts';

/** Makes the pods of a node, each with ports of the node that no other has. */
export class PodSupply {
  readonly #node: BenchNode;
  readonly #ports: number;
  #made = 0;
  #nextPort = FIRST_PORT;

  /** @param ports how many ports a pod publishes */
  constructor(node: BenchNode, ports: number) {
    this.#node = node;
    this.#ports = ports;
  }

  /**
   * Makes pods.
   *
   * @param ports how many ports each publishes, when not as many as usual
   * @throws {BenchError} BENCH_REFUSED when there are no ports left
   */
  async make(count: number, ports: number = this.#ports): Promise<readonly Pod[]> {
    const pods = Array.from({ length: count }, (): Pod => {
      const name = `pod${this.#made++}`;
      return {
        name,
        containerID: `bench-${name}`,
        capabilityArgs: this.#capabilities(ports),
        result: undefined,
      };
    });
    await this.#node.makePods(pods.map(({ name }) => name));
    return pods;
  }

  #capabilities(count: number): Readonly<Record<string, JsonValue>> {
    if (count === 0) return {};
    const first = this.#nextPort;
    this.#nextPort += count;
    // The node takes the ports above these for its own connections.
    if (this.#nextPort > END_OF_PORTS) {
      throw new BenchError(
        'BENCH_REFUSED',
        `more than ${END_OF_PORTS - FIRST_PORT} ports cannot be published`,
        {
          hint: 'fewer rounds, pods or ports',
        },
      );
    }
    const portMappings = Array.from({ length: count }, (_, index) => ({
      hostPort: first + index,
      containerPort: 8000 + index,
      protocol: 'tcp',
    }));
    return { portMappings };
  }
}

const FIRST_PORT = 1024;
const END_OF_PORTS = 32_768;
