import { type CommonFlags, defineCommand } from '../command.ts';

/** `heddle help`: what `--help` says. The command line is turned round before it is looked at. */
export const helpCommand = defineCommand<CommonFlags, [string | undefined]>({
  name: 'help',
  group: 'Learn',
  brief: 'explain heddle, or one of its commands',
  about: ['Prints what a command does, its arguments and examples: the same as COMMAND --help.'],
  examples: [{ command: 'heddle help run', what: 'explains how to run a command attached to a network' }],
  usage: '[command]',
  json: '',
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        { placeholder: 'command', parse: String, brief: 'the command to explain', optional: true },
      ],
    },
  },
  run: async () => undefined,
});
