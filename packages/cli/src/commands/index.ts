/** The commands, in the order in which help lists them. */
import type { HeddleCommand } from '../command.ts';
import { addCommand } from './add.ts';
import { agentCommand } from './agent.ts';
import { auditCommand } from './audit.ts';
import { benchCommand } from './bench.ts';
import { checkCommand } from './check.ts';
import { conformanceCommand } from './conformance.ts';
import { delCommand } from './del.ts';
import { dhcpCommand } from './dhcp.ts';
import { doctorCommand } from './doctor.ts';
import { downCommand } from './down.ts';
import { explainCommand } from './explain.ts';
import { gcCommand } from './gc.ts';
import { helpCommand } from './help.ts';
import { installCommand } from './install.ts';
import { ipamCommand } from './ipam.ts';
import { labCommand } from './lab.ts';
import { lockCommand } from './lock.ts';
import { lsCommand } from './ls.ts';
import { migrateCommand } from './migrate.ts';
import { nodeCommand } from './node.ts';
import { runCommand } from './run.ts';
import { showCommand } from './show.ts';
import { statusCommand } from './status.ts';
import { uninstallCommand } from './uninstall.ts';
import { upCommand } from './up.ts';
import { verifyCommand } from './verify.ts';
import { versionCommand } from './version.ts';

/** All of them. */
export const COMMANDS: readonly HeddleCommand[] = [
  lsCommand,
  showCommand,
  nodeCommand,
  ipamCommand,
  runCommand,
  addCommand,
  delCommand,
  checkCommand,
  gcCommand,
  statusCommand,
  auditCommand,
  explainCommand,
  doctorCommand,
  lockCommand,
  verifyCommand,
  versionCommand,
  installCommand,
  uninstallCommand,
  upCommand,
  migrateCommand,
  downCommand,
  agentCommand,
  dhcpCommand,
  conformanceCommand,
  benchCommand,
  labCommand,
  helpCommand,
];
