/** What a node knows of its attachments, without judging it. */
export { type Evidence, type ListedAttachment, listAttachments } from './attachments.ts';
export { hasNetns } from './netns.ts';
export { type NetworkReservation, readReservations, reservationDirs } from './reservations.ts';
