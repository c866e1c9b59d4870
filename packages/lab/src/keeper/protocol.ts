/** What a lab's keeper can be asked: one request and one answer a connection, each a line of JSON. */
import type { Outcome } from '../host/host.ts';
import type { TransferOutcome } from '../probe/exchange.ts';
import type { FloodOutcome } from '../probe/flood.ts';
import type { Matrix, MatrixOptions } from '../probe/matrix.ts';
import type { PingOptions, PingOutcome } from '../probe/ping.ts';
import type { Weather } from '../underlay/netem.ts';

/** A lab as it is now. */
export interface LabStatus {
  readonly segments: readonly {
    readonly name: string;
    readonly mtu: number;
    readonly gateways: readonly string[];
  }[];
  readonly nodes: readonly {
    readonly name: string;
    readonly segment: string;
    readonly addresses: readonly string[];
    /** Whether its cable is pulled. */
    readonly cut: boolean;
    readonly pods: readonly { readonly name: string; readonly addresses: readonly string[] }[];
  }[];
  /** The members of etcd; none when the store is a file. */
  readonly etcd: readonly string[];
  readonly wiring: 'heddle' | 'by-hand';
}

/** Where a process has to go to be on a machine of the lab: descriptors of the keeper. */
export interface Whereabouts {
  readonly mounts: number;
  readonly netns: number;
  /** The environment of the machine's programs. */
  readonly env: Readonly<Record<string, string>>;
}

/** From whom to whom. */
export interface FromTo {
  readonly from: string;
  /** A place, or an address. */
  readonly to: string;
  readonly family?: 4 | 6 | undefined;
}

/** The requests: what each takes, and what it gives. */
export interface Requests {
  status: { takes: object; gives: LabStatus };
  matrix: { takes: MatrixOptions; gives: Matrix };
  ping: { takes: FromTo & PingOptions; gives: PingOutcome };
  /** For so many milliseconds, one every `interval`. */
  flood: {
    takes: FromTo & { readonly milliseconds: number; readonly interval?: number | undefined };
    gives: FloodOutcome;
  };
  /** `from` is who sends. */
  transfer: { takes: FromTo & { readonly bytes: number; readonly timeout?: number }; gives: TransferOutcome };
  cut: { takes: { readonly node: string }; gives: object };
  heal: { takes: { readonly node: string }; gives: object };
  weather: { takes: { readonly node: string } & Weather; gives: object };
  run: {
    takes: { readonly on: string; readonly command: readonly string[]; readonly stdin?: string };
    gives: Outcome;
  };
  addPod: {
    takes: { readonly node: string; readonly pod: string };
    gives: { readonly addresses: readonly string[] };
  };
  removePod: { takes: { readonly pod: string }; gives: object };
  killEtcd: { takes: { readonly member: string }; gives: object };
  resumeEtcd: { takes: { readonly member: string }; gives: object };
  whereabouts: { takes: { readonly name: string }; gives: Whereabouts };
  down: { takes: object; gives: object };
}

/** The name of a request. */
export type RequestName = keyof Requests;

/** A request as it is sent. */
export interface RequestMessage {
  readonly request: RequestName;
  readonly takes: unknown;
}

/** A failure as it is sent. */
export interface FailureMessage {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** An answer as it is sent. */
export type AnswerMessage = { readonly gives: unknown } | { readonly failure: FailureMessage };

/** What a keeper says on stdout while it makes the lab, each a line of JSON. The last is `ready` or `failure`. */
export type StartMessage =
  | { readonly done: string }
  | { readonly ready: true }
  | { readonly failure: FailureMessage };
