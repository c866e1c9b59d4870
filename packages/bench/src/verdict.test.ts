import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JobOutcome, StepOutcome } from './outcome.ts';
import { judge } from './verdict.ts';

const RESULT = '{"cniVersion": "1.0.0", "ips": [{"address": "10.1.0.2/24", "gateway": "10.1.0.1"}]}';
const SUBJECT = { types: ['bridge', 'portmap'], probes: ['10.1.0.1', 'fd00::1'], version: '1.0.0' };

function step(facts: Partial<StepOutcome> = {}): StepOutcome {
  return { ending: 'exited', code: 0, began: 0, milliseconds: 1, stdout: '', stderr: '', ...facts };
}

function attached(facts: Partial<JobOutcome> = {}): JobOutcome {
  return {
    steps: [step(), step({ stdout: RESULT })],
    arrivals: [{ milliseconds: 0.2 }, { milliseconds: 0.3 }],
    hasInterface: true,
    ...facts,
  };
}

function failureOf(verb: 'VERSION' | 'ADD' | 'CHECK' | 'DEL', outcome: JobOutcome): string | undefined {
  const verdict = judge(verb, outcome, SUBJECT);
  return 'failure' in verdict ? verdict.failure : undefined;
}

describe('an attachment', () => {
  test('counts when all is well, and has the result of its last plugin', () => {
    assert.deepEqual(judge('ADD', attached(), SUBJECT), { result: JSON.parse(RESULT) });
  });

  const reasons: readonly (readonly [what: string, outcome: Partial<JobOutcome>, reason: RegExp])[] = [
    [
      'of which a packet was lost',
      { arrivals: [{ milliseconds: 0.2 }, { lost: 'ETIMEDOUT' }] },
      /^first packet to fd00::1 lost \(ETIMEDOUT\)$/,
    ],
    ['without an interface', { hasInterface: false }, /^the pod has no interface$/],
    ['of which nothing can be told', { hasInterface: undefined }, /^the pod has no interface$/],
    [
      'whose plugin says what failed',
      { steps: [step({ code: 1, stdout: '{"code": 11, "msg": "no addresses left"}' })] },
      /^bridge: exit code 1: no addresses left$/,
    ],
    [
      'whose plugin says nothing on stdout',
      { steps: [step(), step({ code: 3, stderr: 'some\nreason\n' })] },
      /^portmap: exit code 3: reason$/,
    ],
    ['whose plugin says nothing', { steps: [step({ code: 2 })] }, /^bridge: exit code 2: no reason given$/],
    [
      'whose plugin hangs',
      { steps: [step({ ending: 'late', code: 9 })] },
      /^bridge: killed: it did not end in time$/,
    ],
    [
      'whose plugin crashes',
      { steps: [step({ ending: 'signalled', code: 11 })] },
      /^bridge: ended by signal 11$/,
    ],
    [
      'whose plugin is none',
      { steps: [step({ ending: 'unstarted', code: 8 })] },
      /^bridge: cannot be executed \(ENOEXEC\)$/,
    ],
    ['with garbage', { steps: [step(), step({ stdout: 'done!' })] }, /^garbage on stdout: /],
    ['with nothing on stdout', { steps: [step(), step()] }, /^garbage on stdout: /],
    [
      'with a result of the wrong shape',
      { steps: [step(), step({ stdout: '{"cniVersion":"1.0.0","ips":7}' })] },
      /^garbage on stdout: /,
    ],
    ['with something else', { steps: [step(), step({ stdout: '[]' })] }, /^garbage on stdout: /],
  ];
  for (const [what, outcome, reason] of reasons) {
    test(`${what} does not count`, () => {
      assert.match(failureOf('ADD', attached(outcome)) ?? 'it counted', reason);
    });
  }
});

test('a detachment counts when the interface is gone', () => {
  const gone = { steps: [step(), step()], arrivals: [], hasInterface: false };
  assert.equal(failureOf('DEL', gone), undefined);
  assert.equal(failureOf('DEL', { ...gone, hasInterface: true }), 'the pod still has its interface');
  assert.equal(failureOf('DEL', { ...gone, hasInterface: undefined }), 'the pod still has its interface');
  assert.match(failureOf('DEL', { ...gone, steps: [step(), step({ code: 1 })] }) ?? '', /^portmap: /);
});

test('a check counts when the plugins are content', () => {
  assert.equal(failureOf('CHECK', attached({ arrivals: [] })), undefined);
  assert.match(failureOf('CHECK', attached({ steps: [step({ code: 1 })] })) ?? '', /^bridge: /);
});

test('an answer to VERSION counts when it lists versions', () => {
  const answered = (stdout: string) => ({ steps: [step({ stdout })], arrivals: [], hasInterface: undefined });
  assert.equal(
    failureOf('VERSION', answered('{"cniVersion":"1.0.0","supportedVersions":["1.0.0"]}')),
    undefined,
  );
  assert.match(
    failureOf('VERSION', answered('{"cniVersion":"1.0.0"}')) ?? '',
    /^garbage on stdout: no supportedVersions/,
  );
  assert.match(failureOf('VERSION', answered('1.0.0')) ?? '', /^garbage on stdout: /);
});
