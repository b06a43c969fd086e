import type { Client, Sent } from '@parley/sdk'
import { changeDraft, type Draft, type DraftFile } from '../state/drafts.ts'
import { joined } from '../state/mentions.ts'
import { forgetPreview } from './draft-files.ts'

/** What is sent: a draft, or a part of it. */
export type Letter = Pick<Draft, 'written' | 'quote' | 'files'>

/**
 * Files are shown until their message has arrived. One that loses a file on the way never does, however often it is tried:
 * it is a draft again, in which the file can be uploaded anew or left out.
 */
export async function seeOff(client: Client, key: string, letter: Letter, sent: Sent): Promise<void> {
  const hasArrived = await sent.done.then(
    () => true,
    () => false,
  )
  const ids = new Set(letter.files.map(({ id }) => id))
  changeDraft(key, (draft) => ({ ...draft, leaving: draft.leaving.filter(({ id }) => !ids.has(id)) }))
  if (!hasArrived && letter.files.some(hasFailed)) return takeBack(client, key, letter, sent)
  for (const file of letter.files) forgetPreview(file)
}

function takeBack(client: Client, key: string, { written, quote, files }: Letter, sent: Sent): void {
  const { key: gone } = sent.get()
  client.outbox
    .get()
    .find((entry) => entry.key === gone)
    ?.discard()
  changeDraft(key, (draft) => ({
    ...draft,
    written: joined(written, draft.written),
    ...(quote && !draft.edit && !draft.quote && { quote }),
    files: [...files.filter((file) => !wasGivenUp(file)), ...draft.files],
  }))
}

export const hasFailed = ({ upload }: DraftFile) => upload.get().state === 'failed'
const wasGivenUp = ({ upload }: DraftFile) => upload.get().error?.kind === 'aborted'
