/** A client of the container runtime interface, for the few calls that make and remove pods. */
import { resolve } from 'node:path';
import * as grpc from '@grpc/grpc-js';
import * as loader from '@grpc/proto-loader';

/** One call: what is asked, and what is answered. */
type Method<Request, Response> = (request: Request) => Promise<Response>;

/** A pod as the runtime knows it. */
export interface SandboxId {
  readonly pod_sandbox_id: string;
}

/** The calls. */
export interface Cri {
  Status: Method<
    object,
    { status: { conditions: { type: string; status: boolean; reason: string; message: string }[] } }
  >;
  RunPodSandbox: Method<{ config: object }, SandboxId>;
  StopPodSandbox: Method<SandboxId, object>;
  RemovePodSandbox: Method<SandboxId, object>;
  PodSandboxStatus: Method<
    SandboxId,
    { status: { network: { ip: string; additional_ips: { ip: string }[] } } }
  >;
  CreateContainer: Method<object, { container_id: string }>;
  StartContainer: Method<{ container_id: string }, object>;
  close(): void;
}

/** Connects to a runtime's socket. */
export function connectCri(socket: string): Cri {
  const options = { keepCase: true, longs: Number, enums: String, defaults: true };
  const definition = loader.loadSync(resolve('test/interop/cri.proto'), options);
  const root = grpc.loadPackageDefinition(definition) as unknown as {
    runtime: { v1: { RuntimeService: grpc.ServiceClientConstructor } };
  };
  const client = new root.runtime.v1.RuntimeService(`unix:${socket}`, grpc.credentials.createInsecure());
  const call = (name: string) => (request: object) =>
    new Promise((answer, fail) => {
      const method = client[name] as unknown as (
        request: object,
        options: object,
        done: (error: Error | null, response: unknown) => void,
      ) => void;
      method.call(client, request, { deadline: Date.now() + 60_000 }, (error, response) =>
        error === null ? answer(response) : fail(error),
      );
    });
  const names = [
    'Status',
    'RunPodSandbox',
    'StopPodSandbox',
    'RemovePodSandbox',
    'PodSandboxStatus',
    'CreateContainer',
    'StartContainer',
  ];
  const methods = Object.fromEntries(names.map((name) => [name, call(name)]));
  return { ...methods, close: () => client.close() } as unknown as Cri;
}

/** A pod's configuration as the kubelet sends it. */
export function podConfig(name: string, more: object = {}): object {
  return {
    metadata: { name, uid: `uid-${name}`, namespace: 'ns1', attempt: 0 },
    hostname: name,
    linux: { security_context: { namespace_options: { network: 'POD', pid: 'CONTAINER', ipc: 'POD' } } },
    ...more,
  };
}
