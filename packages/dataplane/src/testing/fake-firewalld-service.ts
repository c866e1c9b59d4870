/** The firewalld of `fake-firewalld.ts`: `fake-firewalld-service.ts <socket of the bus> <file for its calls>`. */
import { appendFileSync } from 'node:fs';
import { BUS, DBusConnection } from '../dbus/connection.ts';
import { MESSAGE_TYPE } from '../dbus/message.ts';
import { boolean, string, uint32, type Variant } from '../dbus/types.ts';

const [socket = '', log = ''] = process.argv.slice(2);
const NAME = 'org.fedoraproject.FirewallD1';

/** The zone of each source. */
const zones = new Map<string, string>();

using bus = await DBusConnection.open(socket);
await bus.call({
  ...{ ...BUS, member: 'RequestName' },
  body: [
    { type: string, value: NAME },
    { type: uint32, value: 0 },
  ],
});
process.stdout.write('ready\n');

for (;;) {
  const { type, serial, sender = '', interface: name, member = '', body } = await bus.receive();
  if (type !== MESSAGE_TYPE.call || name !== `${NAME}.zone`) continue;
  const [zone = '', source = ''] = body.map(String);
  appendFileSync(log, `${member} ${zone} ${source}\n`);
  const reply = { replyTo: serial, destination: sender };
  const answer = answerTo(member, zone, source);
  if ('error' in answer) {
    const text = { type: string, value: answer.error };
    bus.send({ type: MESSAGE_TYPE.error, errorName: `${NAME}.Exception`, ...reply, body: [text] });
  } else bus.send({ type: MESSAGE_TYPE.reply, ...reply, body: [answer] });
}

function answerTo(member: string, zone: string, source: string): Variant | { readonly error: string } {
  if (zone === 'nowhere') return { error: `INVALID_ZONE: ${zone}` };
  const current = zones.get(source);
  switch (member) {
    case 'addSource':
      if (current === zone) return { error: `ZONE_ALREADY_SET: '${source}' already bound to '${zone}'` };
      if (current !== undefined) return { error: `ZONE_CONFLICT: '${source}' already bound to '${current}'` };
      zones.set(source, zone);
      return { type: string, value: zone };
    case 'removeSource':
      if (current === undefined) return { error: `UNKNOWN_SOURCE: '${source}' is not in any zone` };
      zones.delete(source);
      return { type: string, value: zone };
    case 'querySource':
      return { type: boolean, value: current === zone };
    default:
      return { error: `NOT_IMPLEMENTED: ${member}` };
  }
}
