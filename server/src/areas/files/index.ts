import { area } from '../../kit/area.ts'
import { leftInStore } from '../apps/index.ts'
import { audit } from './audit.ts'
import { operations } from './operations.ts'
import { uploadByteRate, uploadRate } from './rates.ts'
import { emptyStore, removeFiles, sweepFiles } from './removal.ts'
import { migrations } from './tables.ts'
import { makeThumbnail } from './thumbnails.ts'

export { adoptAttachments, fileKeysOf, keptAttachment, shownAttachment, storedAttachment } from './attachments.ts'
export { type Destination, maySendMediaTo } from './gates.ts'
export { kindByName, unknownMimeType } from './kinds.ts'
export { cleanName } from './names.ts'
export { uploadByteRate, uploadRate } from './rates.ts'
export { type Metered, openReception, type Reception, receiveAnnounced, type Taken } from './reception.ts'
export { claimFiles, findStoredFile, keepFile, releaseFiles } from './store.ts'
export { thumbnailKey, thumbnailType } from './thumbnails.ts'
export { fileKeyIn, signedUrl, type Ticket, ticketIn } from './urls.ts'

export const files = area({
  name: 'files',
  about: 'Files that messages carry: uploads, signed addresses, small pictures.',
  operations,
  migrations,
  tables: ['file_uses', 'files'],
  jobs: [removeFiles, sweepFiles, makeThumbnail],
  rates: [uploadRate, uploadByteRate],
  audit,
  answers: [leftInStore.answeredBy(emptyStore)],
})
