export { type CniArgs, formatCniArgs, loadArgs, parseCniArgs, parseCniArgsLeniently } from './args.ts';
export {
  type AttachmentId,
  attachmentKey,
  IFNAME_MAX,
  sameAttachment,
  VALID_ATTACHMENT_KEYS,
  type ValidAttachment,
  validateAttachment,
  validateContainerId,
  validateIfName,
  validateNetworkName,
} from './attachment.ts';
export { CNI_CODE, type CniCodeName, codeForHeddleError, codeName } from './codes.ts';
export { type DecodeConfigOptions, decodeConfig } from './decode.ts';
export { decodeLeniently, type LenientlyDecoded } from './decode-leniently.ts';
export { type DeriveOptions, deriveStdin, type PrevResultSource, prevResultFor } from './derive.ts';
export {
  COMMANDS,
  type Command,
  type Invocation,
  knownCommand,
  readEnvironment,
  splitPath,
} from './environment.ts';
export {
  CniError,
  type CniErrorJson,
  type CniErrorOptions,
  ConfigError,
  type ConfigErrorOptions,
  DecodeError,
  type DecodeErrorOptions,
  PluginError,
  type SourcePosition,
  toCniError,
  UnavailableError,
  UsageError,
} from './errors.ts';
export { goJson, goJsonIndented } from './go-json.ts';
export { MAX_DEPTH, type ParseJsonOptions, parseJson } from './json.ts';
export { type LineColumn, locate } from './json-syntax.ts';
export { isJsonObject, type JsonObject, type JsonPath, type JsonValue, jsonPointer } from './json-value.ts';
export { matchMembers, type UnknownKey, unknownKeys } from './members.ts';
export {
  type BrokenFile,
  type ConfigFile,
  isConfigPath,
  isListPath,
  type ListedNetworks,
  listNetworks,
  NetworkNotFoundError,
  type SelectedNetwork,
  type SelectOptions,
  selectNetwork,
} from './network-files.ts';
export {
  type NetworkConfigList,
  type ParseListOptions,
  parseNetworkList,
  type Siblings,
  unknownListKeys,
  upconvert,
} from './network-list.ts';
export { type PluginConfig, parsePluginConfig } from './plugin-config.ts';
export {
  type Dns,
  type Interface,
  type IpConfig,
  type ParseResultOptions,
  parsePrevResult,
  parseResult,
  type Result,
  type Route,
} from './result.ts';
export { convertResult } from './result-convert.ts';
export { renderResult, stringifyResult } from './result-render.ts';
export { canonicalCidr, canonicalIp } from './result-schema.ts';
export {
  absolutePath,
  bool,
  cidr,
  cidrText,
  dnsSchema,
  int,
  ip,
  ipamSchema,
  ipText,
  mac,
  macText,
  pluginEntries,
  routeSchema,
  type TextProblem,
  uint,
  uint64,
  validAttachmentSchema,
} from './schema.ts';
export { closest } from './spelling.ts';
export {
  atLeast,
  CNI_VERSIONS,
  type CniVersion,
  CURRENT_VERSION,
  compareVersions,
  isCniVersion,
  negotiate,
  parseVersion,
  versionsFrom,
} from './versions.ts';
