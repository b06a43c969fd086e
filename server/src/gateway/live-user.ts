/** A user's record in the words that are used live: `online` where the API says `available`. */
export function liveUser<Record extends { status: string }>(record: Record): Record {
  return { ...record, status: record.status === 'available' ? 'online' : record.status }
}
