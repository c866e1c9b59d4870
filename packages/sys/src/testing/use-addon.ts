/**
 * Test entry, for `node --import`: has every thread load the addon that HEDDLE_SYS_ADDON names instead of the
 * usual one. The product itself never looks at the environment.
 */
const other = process.env['HEDDLE_SYS_ADDON'];
const dlopen = process.dlopen;

if (other !== undefined) {
  process.dlopen = (module, path, ...flags) =>
    dlopen.call(process, module, path.endsWith('/heddle_sys.node') ? other : path, ...flags);
}
