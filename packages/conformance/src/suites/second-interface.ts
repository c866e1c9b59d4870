/** Two interfaces of one container. */
import type { Container } from '../lab/container.ts';
import type { CallOptions, Lab } from '../lab/lab.ts';

/** The second interface of a container, and what all calls about it have in common. Nothing is called. */
export async function secondInterface(
  lab: Lab,
  container: Container,
): Promise<readonly [second: Container, options: CallOptions]> {
  const { subject } = lab;
  // Where containers have devices of their own, that of the first interface is taken: another container's will do.
  const n = subject.setup.prepareContainer === undefined ? container.n + 1000 : (await lab.container()).n;
  return [container.withInterface('net1'), { config: subject.object(n) }];
}
