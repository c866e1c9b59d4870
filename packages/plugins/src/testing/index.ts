/** What tests of plugins on the real kernel stand on. */
export { TestNetns } from '@heddle/netlink/testing';
export {
  Container,
  type LabCall,
  type LabConfig,
  LabInflight,
  type LabRequest,
  PluginLab,
} from './plugin-lab.ts';
export { ProgramPath } from './program-path.ts';
export { ReferencePlugins } from './reference.ts';
export { Sabotage, SabotageError, type SabotageKind } from './sabotage.ts';
export { type StubAnswer, StubIpam } from './stub-ipam.ts';
export { type Datagram, UdpEndpoint } from './udp-endpoint.ts';
