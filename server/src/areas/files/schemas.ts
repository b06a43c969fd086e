import { FilledText, Id, OneOf, Seconds, type Static, Type } from '../../kit/schema.ts'

/** A file of a message, as it is answered. */
export const Attachment = Type.Object(
  {
    url: Type.String({ description: 'Where the file is; the address is valid for a time' }),
    name: Type.String({ description: 'File name', examples: ['view.jpg'] }),
    mimeType: Type.String({ description: 'Found by looking into the file', examples: ['image/jpeg'] }),
    extension: Type.String({ description: 'Without a dot', examples: ['jpg'] }),
    size: Type.Integer({ description: 'Bytes', examples: [48_213] }),
  },
  { title: 'Attachment' },
)
export type Attachment = Static<typeof Attachment>

const AnnouncedFile = Type.Object({
  fileId: Id(FilledText(100, 'Your own name for the file; the answer goes by it')),
  name: Type.String({ description: 'File name' }),
  mimeType: Type.String({ description: 'What the file is' }),
  size: Type.Integer({ description: 'Bytes' }),
})
export type AnnouncedFile = Static<typeof AnnouncedFile>

export const UploadsAsk = Type.Object({
  receiverId: Id(FilledText(100, 'UID or GUID that the files are for')),
  receiverType: OneOf(['user', 'group']),
  parentMessageId: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'The message whose thread they are for',
    }),
  ),
  batchId: Type.Optional(Id(FilledText(100, 'Your own name for the whole; not kept'))),
  files: Type.Array(AnnouncedFile, {
    minItems: 1,
    description: 'The files to upload',
    examples: [[{ fileId: 'f1', name: 'view.jpg', mimeType: 'image/jpeg', size: 48_213 }]],
  }),
})

const UploadPlace = Type.Object({
  uploadUrl: Type.String({ description: 'Send the bytes there with PUT' }),
  headers: Type.Record(Type.String(), Type.String(), { description: 'Headers to send along' }),
  expiresAt: Seconds('Until when the upload must have begun'),
  attachment: Attachment,
})
const UploadRefused = Type.Object({
  error: Type.Object({ code: Type.String(), message: Type.String() }),
})

/** For each `fileId` a place to upload to, or why there is none. */
export const UploadPlaces = Type.Record(Type.String(), Type.Union([UploadPlace, UploadRefused]))
export type UploadPlaces = Static<typeof UploadPlaces>
