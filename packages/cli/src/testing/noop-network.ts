/** A network for tests of the verbs: one plugin, which is a shell script. */
import { CliLab } from './cli-lab.ts';

/** The network `podnet`, of one plugin. */
export const NETWORK = { cniVersion: '1.1.0', name: 'podnet', plugins: [{ type: 'noop' }] };
/** What its ADD answers. */
export const RESULT = '{"cniVersion":"1.1.0","ips":[{"address":"192.0.2.5/24"}]}';
/** The script of a plugin that does nothing, and answers as it should. */
export const ANSWERS = `case $CNI_COMMAND in
  ADD) printf %s '${RESULT}' ;;
  VERSION) printf %s '{"cniVersion":"1.1.0","supportedVersions":["1.0.0","1.1.0"]}' ;;
esac`;

/** A machine with that network, and a plugin that does what the script says. */
export function labWith(script = ANSWERS): CliLab {
  const lab = new CliLab();
  lab.write('net.d/10-podnet.conflist', NETWORK);
  lab.stub('noop', script);
  return lab;
}
