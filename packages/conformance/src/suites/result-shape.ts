/** The form of a result in each version of the specification, taken strictly. */
import { isJsonObject, type JsonObject, type JsonValue } from '@heddle/cni';
import { Addr, Mac, Prefix } from '@heddle/netaddr';

type Test = (value: JsonValue) => string | undefined;
type Form = Readonly<Record<string, { readonly test: Test; readonly required?: boolean }>>;

/**
 * What is wrong with a result.
 *
 * @returns sentences such as `ips[0].address: not an address with prefix length`; empty when nothing is
 */
export function shapeProblems(result: JsonObject, version: string): readonly string[] {
  const form = version === '0.1.0' || version === '0.2.0' ? OLDEST : version.startsWith('0.') ? OLD : CURRENT;
  const said = result['cniVersion'];
  return [
    ...(said === version ? [] : [`cniVersion: ${JSON.stringify(said)} in place of "${version}"`]),
    ...problemsOf(result, form, ''),
    ...indexProblems(result),
  ];
}

function problemsOf(object: JsonObject, form: Form, at: string): readonly string[] {
  const absent = Object.entries(form)
    .filter(([name, { required }]) => required === true && object[name] === undefined)
    .map(([name]) => `${at}${name}: missing`);
  const wrong = Object.entries(object).flatMap(([name, value]) => {
    const member = form[name];
    if (member === undefined) return `${at}${name}: no member of a result of this version`;
    const problem = member.test(value);
    return problem === undefined ? [] : problem.split('\n').map((each) => `${at}${name}${each}`);
  });
  return [...absent, ...wrong];
}

/** An address belongs to an interface that is listed. */
function indexProblems({ ips, interfaces }: JsonObject): readonly string[] {
  const count = Array.isArray(interfaces) ? interfaces.length : 0;
  return (Array.isArray(ips) ? ips : []).flatMap((ip, index) => {
    const at = isJsonObject(ip) ? ip['interface'] : undefined;
    if (at === undefined || (typeof at === 'number' && at >= 0 && at < count)) return [];
    return `ips[${index}].interface: ${JSON.stringify(at)}, but there are ${count} interfaces`;
  });
}

const text: Test = (value) => (typeof value === 'string' ? undefined : ': not a string');
const uint: Test = (value) =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0
    ? undefined
    : ': not a whole number from 0 on';
const parsedBy =
  (parse: (text: string) => unknown, what: string): Test =>
  (value) =>
    typeof value === 'string' && parse(value) !== undefined
      ? undefined
      : `: ${JSON.stringify(value)} is not ${what}`;
const cidr = parsedBy(Prefix.tryParse, 'an address with prefix length');
const address = parsedBy(Addr.tryParse, 'an address');
const mac = parsedBy((value) => (value === '' ? '' : Mac.tryParse(value)), 'a hardware address');
const oneOf =
  (...values: readonly string[]): Test =>
  (value) =>
    values.some((each) => each === value)
      ? undefined
      : `: ${JSON.stringify(value)} is none of ${values.join(', ')}`;
const object =
  (form: Form): Test =>
  (value) =>
    isJsonObject(value) ? problemsOf(value, form, '.').join('\n') || undefined : ': not an object';
const list =
  (test: Test): Test =>
  (value) => {
    if (!Array.isArray(value)) return ': not a list';
    const problems = value.flatMap((each, index) => {
      const problem = test(each as JsonValue);
      return problem === undefined ? [] : problem.split('\n').map((line) => `[${index}]${line}`);
    });
    return problems.join('\n') || undefined;
  };

const dns = {
  test: object({
    nameservers: { test: list(address) },
    domain: { test: text },
    search: { test: list(text) },
    options: { test: list(text) },
  }),
};
const routes = {
  test: list(
    object({
      dst: { test: cidr, required: true },
      gw: { test: address },
      ...Object.fromEntries(
        ['mtu', 'advmss', 'priority', 'table', 'scope'].map((name) => [name, { test: uint }]),
      ),
    }),
  ),
};
const cniVersion = { test: text, required: true };
const ofFamily = {
  test: object({ ip: { test: cidr, required: true }, gateway: { test: address }, routes }),
};
const OLDEST: Form = { cniVersion, ip4: ofFamily, ip6: ofFamily, dns };
const oldInterface = {
  name: { test: text, required: true },
  mac: { test: mac },
  sandbox: { test: text },
};
const ip = { address: { test: cidr, required: true }, gateway: { test: address }, interface: { test: uint } };
const OLD: Form = {
  cniVersion,
  interfaces: { test: list(object(oldInterface)) },
  ips: { test: list(object({ ...ip, version: { test: oneOf('4', '6'), required: true } })) },
  routes,
  dns,
};
const CURRENT: Form = {
  cniVersion,
  interfaces: {
    test: list(
      object({ ...oldInterface, mtu: { test: uint }, socketPath: { test: text }, pciID: { test: text } }),
    ),
  },
  ips: { test: list(object(ip)) },
  routes,
  dns,
};
