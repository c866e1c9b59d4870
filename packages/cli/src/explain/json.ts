/** What `heddle explain -o json` prints. */
import type { ExplainedNetwork, Explanation, Plan } from '@heddle/doctor';

/** The declaration of {@link explanationJson}, for the documentation. */
export const EXPLANATION_OUTPUT = `interface Output {
  runtime: string;
  directory: string;
  isDirectoryMissing: boolean;
  cacheDir: string;
  candidates: {
    file: string;
    network: string | null;
    fate: 'chosen' | 'by name' | 'shadowed' | 'not reached' | 'passed over' | 'ends the search';
    reason: string;
  }[];
  network: null | {
    name: string;
    file: string;
    cniVersion: string;
    versionReason: string;
    env: Record<string, string>; // the variables of the protocol
    plugins: {
      type: string;
      program: Program;
      speaksVersion: boolean | null;
      delegates: { type: string; work: 'addresses' | 'the attachment'; program: Program }[];
      capabilities: { name: string; state: 'passed' | 'none given' | 'never passed' }[];
      stdin: string; // to the byte, but for prevResult
      prevResultFrom: string | null;
    }[];
    unclaimed: string[]; // given, and declared by no plugin
    withheld: string[]; // given, and never passed by this runtime
  };
  sends: string[] | null; // capabilities that the runtime passes; null for what it is told to
  ways: string[];
  findings: object[]; // as those of \`heddle audit\`
  plan?: { // with --plan
    result: object | null; // null when ADD fails
    failure: { code: number; message: string; details: string | null } | null;
    steps: { type: string; stdin: string; stdout: string; stderr: string; failure?: string }[];
    changes: {
      side: 'host' | 'pod';
      sign: '+' | '-';
      matter: 'link' | 'address' | 'route' | 'rule' | 'neighbour' | 'parameter' | 'nftables' | 'iptables' | 'tc';
      text: string;
      by: string; // the plugin
      isThere?: true; // the host has it already
    }[];
    files: { path: string; what: 'made' | 'changed' | 'removed'; by: string }[];
    notes: string[]; // what was not as on the node
  };
}
interface Program {
  type: string;
  path?: string;
  target?: string;
  kind?: 'ELF program' | 'script' | "Heddle's client" | "Heddle's program" | 'unknown';
  size?: number;
  sha256?: string;
  versions?: string[];
  obstacles: string[];
  isStartable?: false;
  problem?: string;
}`;

/** The explanation as a JSON value. */
export function explanationJson(explanation: Explanation, plan?: Plan): object {
  const { runtime, directory, cacheDir, choice, network, findings } = explanation;
  return {
    ...{ runtime: runtime.name, directory, cacheDir },
    isDirectoryMissing: choice.isDirectoryMissing ?? false,
    candidates: choice.candidates.map(({ path, list, fate, reason }) => ({
      ...{ file: path, network: list?.name ?? null, fate, reason },
    })),
    network: network === undefined ? null : networkJson(network),
    sends: runtime.sends ?? null,
    ...{ ways: runtime.ways, findings },
    ...(plan !== undefined && { plan: planJson(plan) }),
  };
}

function networkJson({ list: _, plugins, ...network }: ExplainedNetwork): object {
  return {
    ...network,
    plugins: plugins.map(({ speaksVersion = null, prevResultFrom = null, ...plugin }) => ({
      ...plugin,
      ...{ speaksVersion, prevResultFrom },
    })),
  };
}

function planJson({ result = null, failure, ...plan }: Plan): object {
  const told =
    failure === undefined
      ? null
      : { code: failure.cniCode, message: failure.message, details: failure.cniDetails ?? null };
  return { result, failure: told, ...plan };
}
