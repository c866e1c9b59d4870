/** Pings between pods, and how they are carried between the nodes. */
import assert from 'node:assert/strict';
import type { TestPod } from '@heddle/routing/testing';
import { type Frame, IP_PROTOCOLS, type Packet } from '../support/capture.ts';
import { until } from '../support/until.ts';

/** Waits until a pod has an answer of each of these addresses. */
export async function reaches(
  from: Pick<TestPod, 'netns'>,
  addresses: readonly string[],
  ...args: readonly string[]
): Promise<void> {
  for (const address of addresses) {
    const asked = async () => (from.netns.pings(address, ...args) ? true : undefined);
    await until(`${address} to answer`, asked, 60);
  }
}

/** The frames that carry an echo request, or its answer, from one address to another: the way that it goes below. */
export function carrying(frames: readonly Frame[], from: string, to: string): Frame[] {
  return frames.filter(({ packet }) => {
    const { source, destination, protocol } = packet.vxlan?.frame?.packet ?? packet;
    const isEcho = protocol === IP_PROTOCOLS.icmp || protocol === IP_PROTOCOLS.icmp6;
    return isEcho && `${source}` === from && `${destination}` === to;
  });
}

/** A way of packets in an overlay, seen from both sides of the wrapping. */
export interface WrappedWay {
  /** Of the pods. */
  readonly from: string;
  readonly to: string;
  /** Between the nodes. */
  readonly hosts: readonly [from: string, to: string];
  /** Of the overlay devices. */
  readonly macs: readonly [from: string, to: string];
}

/** Asserts that echoes on this way were seen, each in VXLAN with the cluster's numbers. @returns what was seen, and in what */
export function assertWrapped(
  frames: readonly Frame[],
  { from, to, hosts, macs }: WrappedWay,
): readonly { readonly outer: Packet; readonly inner: Packet }[] {
  const found = carrying(frames, from, to);
  assert.ok(found.length > 0, `${from} to ${to} was seen`);
  return found.map(({ packet }) => {
    assert.deepEqual([`${packet.source}`, `${packet.destination}`], hosts);
    assert.equal(packet.protocol, IP_PROTOCOLS.udp);
    const { port, flags, vni, frame } = packet.vxlan ?? {};
    assert.deepEqual({ port, flags, vni }, { port: 4789, flags: 0x08, vni: 72 });
    assert.ok(frame !== undefined);
    assert.deepEqual([`${frame.from}`, `${frame.to}`], macs);
    // One hop, the node.
    assert.equal(frame.packet.ttl, 63);
    return { outer: packet, inner: frame.packet };
  });
}
