export {
  CLIENT_PORT,
  type DhcpMessage,
  type DhcpMessageInput,
  dhcpMessage,
  SERVER_PORT,
} from './message.ts';
