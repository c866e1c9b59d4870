/** Everything that a plugin's author needs. */
export type {
  AddCall,
  AttachmentCall,
  BaseCall,
  CheckCall,
  DelCall,
  Delegate,
  GcCall,
  GcOwner,
  IpamDelegate,
  StatusCall,
} from './calls.ts';
export { Decoded } from './decoded.ts';
export { definePlugin, type Plugin, type PluginDefinition } from './definition.ts';
export type { Clock, InflightPort, Operation, PluginExecution, PluginHost, Random } from './host.ts';
export { aboutText, versionJson } from './introduction.ts';
export {
  ALIAS_MAX,
  aliasTag,
  COMMENT_MAX,
  hostLinkName,
  isAliasOf,
  networkTag,
  type OwnerAlias,
  type OwnerComment,
  type OwnerTag,
  ownerAlias,
  ownerComment,
  ownerTag,
  parseOwnerAlias,
  parseOwnerComment,
  tagKey,
} from './owner.ts';
export { passOn } from './pass-on.ts';
export { memberOf } from './request.ts';
export { errorJson, type PluginInvocation, type PluginOutcome, serve } from './serve.ts';
export { isAbsent, Teardown, UndoStack } from './undo.ts';
export { ATTACHMENTS, VALID_ATTACHMENTS } from './valid-attachments.ts';
