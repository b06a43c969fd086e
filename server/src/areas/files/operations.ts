import { one } from '../../common/reply.ts'
import { ApiError, badRequest } from '../../kit/errors.ts'
import { type Portion, useOne } from '../../kit/limits.ts'
import { operation } from '../../kit/operation.ts'
import type { Work } from '../../kit/work.ts'
import { groupNotFound } from '../groups/errors.ts'
import { permissionDenied } from '../rbac/errors.ts'
import { fileTooLarge, tooManyFiles } from './errors.ts'
import { maySendMediaTo } from './gates.ts'
import { cleanName, extensionFor } from './names.ts'
import { uploadRate } from './rates.ts'
import { type AnnouncedFile, UploadPlaces, UploadsAsk } from './schemas.ts'
import { addFile } from './store.ts'
import { signedUrl, uploadUrl } from './urls.ts'

const bodyBytesMax = 65_536
const mimeCharactersMax = 200
const nameCharactersMax = 255

const requestUploads = operation({
  id: 'requestUploads',
  route: 'POST /files',
  summary: 'Ask for places to upload files to',
  description:
    'Send the bytes of each file with `PUT` to its `uploadUrl` within 15 minutes, then send a media message with the ' +
    '`attachment`. Files that no message has after 24 hours are removed. The answer tells for each `fileId` its place, ' +
    'or why there is none: `ERR_FILE_SIZE_EXCEEDED`, `ERR_TOO_MANY_REQUESTS`, `ERR_BAD_REQUEST`.',
  doors: ['server', 'client'],
  onBehalfOf: 'required',
  userRate: uploadRate,
  userCount: ({ files }) => (Array.isArray(files) ? files.length : 1),
  body: UploadsAsk,
  bodyBytesMax,
  reply: one(UploadPlaces),
  errors: [permissionDenied, tooManyFiles, groupNotFound],
  async run(call) {
    const { actor, body, tools } = call
    const { countMax } = tools.fileLimits
    if (body.files.length > countMax) throw tooManyFiles({ countMax })
    refuseTwins(body.files)
    if (!actor || !(await maySendMediaTo.ask(call, actor, body))) throw permissionDenied()
    // Without a prototype: a file may be called `__proto__`.
    const places: UploadPlaces = Object.create(null)
    for (const file of body.files) places[file.fileId] = await placeOrRefusal(call, file, actor.uid, call.portion)
    return { data: places }
  },
})

function refuseTwins(files: AnnouncedFile[]): void {
  const ids = files.map(({ fileId }) => fileId)
  const twin = ids.findIndex((id, index) => ids.indexOf(id) !== index)
  if (twin >= 0) throw badRequest({ [`files.${twin}.fileId`]: ['is named twice'] })
}

async function placeOrRefusal(
  work: Work,
  file: AnnouncedFile,
  uploader: string,
  portion: Portion | undefined,
): Promise<UploadPlaces[string]> {
  try {
    requireSound(file, work.tools.fileLimits.bytesMax)
    useOne(portion)
    return await placeFor(work, file, uploader)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { error: { code: error.code, message: error.message } }
  }
}

async function placeFor(work: Work, sent: AnnouncedFile, uploader: string): Promise<UploadPlaces[string]> {
  const { tools, db } = work
  const { size, mimeType } = sent
  const name = cleanName(sent.name)
  const extension = extensionFor(name, mimeType)
  const key = await addFile(work, { state: 'announced', name, mimeType, extension, size, uploader })
  return {
    ...uploadUrl(tools, db.appId, key),
    headers: { 'Content-Type': mimeType },
    attachment: { url: signedUrl(tools, db.appId, key, name), name, mimeType, extension, size },
  }
}

function requireSound({ name, mimeType, size }: AnnouncedFile, bytesMax: number): void {
  if (size > bytesMax) throw fileTooLarge({ bytesMax })
  if (size < 1) throw badRequest({ size: ['must not be less than 1'] })
  if (name.trim() === '' || name.length > nameCharactersMax) {
    throw badRequest({ name: [`must have 1 to ${nameCharactersMax} characters`] })
  }
  if (mimeType.length > mimeCharactersMax || !/^[\w.+-]+\/[\w.+-]+$/.test(mimeType)) {
    throw badRequest({ mimeType: ['must be a MIME type, such as image/png'] })
  }
}

export const operations = [requestUploads]
