/** Where a plugin comes from, when the one that is there is of no use. */
import { PLUGINS } from '@heddle/plugins';
import { commandLine } from '../command-line.ts';
import type { Finding } from '../finding.ts';
import type { NodeView } from '../node/view.ts';

/** How a plugin that is of no use is replaced. */
export function anew(
  view: NodeView,
  type: string,
  path: string | undefined,
): Pick<Finding, 'remedy' | 'commands'> {
  const remedy = `install ${type} anew from where it came, for this processor and executable (mode 755)`;
  const install = fromHere(view, type);
  if (install === undefined || path === undefined) return { remedy };
  return {
    remedy: `${remedy}; or move it away, and take Heddle's:`,
    commands: [commandLine('mv', path, `${path}.broken`), install],
  };
}

/** Where a plugin is, be it only a broken link. */
export function placeOf({ ports: { files, places } }: NodeView, type: string): string | undefined {
  const directory = places.pluginPath.find((each) => files.list(each).includes(type));
  return directory && `${directory}/${type}`;
}

/**
 * What installs a plugin, when it is one of those that come with this command: where it has installed them before, or
 * where nobody has installed any.
 */
export function fromHere({ ports: { files, places } }: NodeView, type: string): string | undefined {
  const [directory = ''] = places.pluginPath;
  const isOurs = files.facts(`${directory}/${INSTALL_RECORD}`) !== undefined;
  if (!PLUGINS.has(type) || !(isOurs || files.list(directory).every((name) => !PLUGINS.has(name))))
    return undefined;
  const where = directory === USUAL ? [] : ['--dir', directory];
  return commandLine('heddle', 'install', ...where, '--no-network');
}

/** What `heddle install` keeps beside the plugins that it has installed. */
const INSTALL_RECORD = '.heddle-install.json';
/** Where it installs unless it is told. */
const USUAL = '/opt/cni/bin';
