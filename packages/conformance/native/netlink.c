/* Which messages only ask: those of rtnetlink by their number, others by a list. All else counts as a change. */
#include <linux/genetlink.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#include "crash.h"

static const char *const VERBS[] = {"new", "del", "get", "set"};
static const char *const THINGS[] = {
    "link",  "addr",     "route",     "neigh",   "rule",    "qdisc",   "tclass",    "tfilter", "action",
    "prefix", "multicast", "anycast", "neightbl", "nduseropt", "addrlabel", "dcb", "netconf", "mdb",
    "nsid",  "stats",    "cachereport", "chain", "nexthop", "linkprop", "vlan", "nexthopbucket", "tunnel"};
enum { THING_COUNT = sizeof THINGS / sizeof THINGS[0] };

static const char *const TABLES[] = {
    "newtable",     "gettable",     "deltable",     "newchain", "getchain", "delchain", "newrule",      "getrule",
    "delrule",      "newset",       "getset",       "delset",   "newsetelem", "getsetelem", "delsetelem", "newgen",
    "getgen",       "trace",        "newobj",       "getobj",   "delobj",   "getobj_reset", "newflowtable", "getflowtable",
    "delflowtable", "getrule_reset"};
enum { TABLE_COUNT = sizeof TABLES / sizeof TABLES[0] };

static bool route(unsigned type, char *name, size_t room) {
  if (type < RTM_BASE) return false;
  unsigned thing = (type - RTM_BASE) / 4, verb = (type - RTM_BASE) % 4;
  if (thing < THING_COUNT) snprintf(name, room, "%s%s", VERBS[verb], THINGS[thing]);
  else snprintf(name, room, "rtnetlink-%u", type);
  return verb != 2;
}

static bool netfilter(unsigned type, char *name, size_t room) {
  if (type == NFNL_MSG_BATCH_BEGIN || type == NFNL_MSG_BATCH_END) return false;
  unsigned what = NFNL_MSG_TYPE(type);
  switch (NFNL_SUBSYS_ID(type)) {
    case NFNL_SUBSYS_NFTABLES:
      if (what < TABLE_COUNT) snprintf(name, room, "%s", TABLES[what]);
      else snprintf(name, room, "nftables-%u", what);
      return what >= TABLE_COUNT || strncmp(TABLES[what], "get", 3) != 0;
    case NFNL_SUBSYS_CTNETLINK:
    case NFNL_SUBSYS_CTNETLINK_EXP:
      snprintf(name, room, what == IPCTNL_MSG_CT_NEW ? "newconntrack" : "delconntrack");
      return what == IPCTNL_MSG_CT_NEW || what == IPCTNL_MSG_CT_DELETE;
    case NFNL_SUBSYS_NFT_COMPAT:
      return false;
    default:
      snprintf(name, room, "nfnetlink-%u-%u", NFNL_SUBSYS_ID(type), what);
      return true;
  }
}

static bool one(int protocol, unsigned type, char *name, size_t room) {
  switch (protocol) {
    case NETLINK_ROUTE:
      return route(type, name, room);
    case NETLINK_NETFILTER:
      return netfilter(type, name, room);
    case NETLINK_SOCK_DIAG:
      return false;
    case NETLINK_GENERIC:
      snprintf(name, room, "genetlink-%u", type);
      return type != GENL_ID_CTRL;
    default:
      snprintf(name, room, "netlink-%d-%u", protocol, type);
      return true;
  }
}

bool netlink_changes(int protocol, const unsigned char *messages, size_t size, char *about, size_t room) {
  bool changes = false;
  char last[64] = "";
  size_t used = 0;
  about[0] = '\0';
  for (size_t at = 0; at + sizeof(struct nlmsghdr) <= size;) {
    struct nlmsghdr header;
    char name[64];
    memcpy(&header, messages + at, sizeof header);
    if (one(protocol, header.nlmsg_type, name, sizeof name)) {
      changes = true;
      /* Of many alike in a row, one is told. */
      if (strcmp(name, last) != 0 && used + strlen(name) + 2 < room)
        used += (size_t)snprintf(about + used, room - used, used == 0 ? "%s" : " %s", name);
      memcpy(last, name, sizeof last);
    }
    if (header.nlmsg_len < sizeof header) break;
    at += NLMSG_ALIGN(header.nlmsg_len);
  }
  return changes;
}
