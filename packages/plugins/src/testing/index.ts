/** What tests of plugins stand on, with the real kernel and without. */
export { TestNetns } from '@heddle/netlink/testing';
export { addDespite, type DespiteOutcome } from './add-despite.ts';
export { DhcpLink } from './dhcp-link.ts';
export { FakeContainer, FakeLab } from './fake-lab.ts';
export { type LabCall, type LabConfig, LabInflight, type LabRequest, PluginCaller } from './plugin-caller.ts';
export { Container, PluginLab } from './plugin-lab.ts';
export { ReferencePlugins } from './reference.ts';
export { everyRequest, Sabotage, SabotageError, type SabotageKind } from './sabotage.ts';
export { type StubAnswer, StubIpam } from './stub-ipam.ts';
export { type Datagram, UdpEndpoint } from './udp-endpoint.ts';
