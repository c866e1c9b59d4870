/** An agent in this process, with plugins that tests hold in their hands. */
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { Agent, type AgentEvent, type AgentOptions, ownDoor } from '@heddle/agent';
import { definePlugin, type Plugin, type PluginDefinition } from '@heddle/cni/plugin';
import * as v from 'valibot';
import { ShimLab } from './shim-lab.ts';

/** See the file's comment. */
export class AgentLab extends ShimLab {
  readonly events: AgentEvent[] = [];
  readonly #waiting = new Set<{ matches: (event: AgentEvent) => boolean; found: () => void }>();

  /** Starts an agent at the lab's socket. */
  async agent(plugins: readonly Plugin[], options: Partial<AgentOptions> = {}): Promise<Agent> {
    const agent = new Agent({
      door: options.door ?? ownDoor(this.socket),
      plugins: new Map(plugins.map((plugin) => [plugin.type, plugin])),
      version: 'test',
      queue: this.queue,
      turnsDirectory: join(this.directory, 'turns'),
      marks: join(this.directory, 'marks'),
      onEvent: (event) => {
        this.events.push(event);
        for (const each of this.#waiting) if (each.matches(event)) each.found();
      },
      ...options,
    });
    await agent.start();
    this.after(() => agent.stop());
    return agent;
  }

  /** Waits for something that the agent tells, or has told. */
  async event(kind: AgentEvent['kind']): Promise<AgentEvent> {
    const told = this.events.find((event) => event.kind === kind);
    if (told !== undefined) return told;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = { matches: (event: AgentEvent) => event.kind === kind, found: resolve };
    this.#waiting.add(waiting);
    await promise;
    this.#waiting.delete(waiting);
    return await this.event(kind);
  }

  /** A client that says what it likes. */
  async raw(
    bytes: Uint8Array | string = '',
  ): Promise<{ readonly socket: Socket; readonly ended: Promise<void> }> {
    const socket = connect(this.socket);
    const ended = Promise.withResolvers<void>();
    socket.on('error', () => {});
    socket.on('close', () => ended.resolve());
    socket.resume();
    await new Promise<void>((resolve) => socket.once('connect', resolve));
    socket.write(bytes);
    return { socket, ended: ended.promise };
  }
}

/** A plugin that does what a test says. */
export function plugin(verbs: Partial<PluginDefinition<unknown>> = {}): Plugin {
  return definePlugin<unknown>({
    type: 'bridge',
    // So that nobody asks for the container's namespace but the test.
    kind: 'ipam',
    about: 'does what a test says',
    config: v.looseObject({}),
    add: async () => ({ cniVersion: '1.1.0' }),
    del: async () => {},
    check: async () => {},
    gc: async () => {},
    status: async () => {},
    ...verbs,
  });
}

/** How many descriptors this process has open. */
export function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}
