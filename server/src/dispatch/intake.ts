import { openReception, type Reception } from '../areas/files/index.ts'
import { workIn } from '../common/work-in.ts'
import type { Tools } from '../kit/ports.ts'
import { type OperationCall, requireActor, type Stage } from './perform.ts'
import { uploadMeter } from './uploads.ts'

/** What takes the files that come with a call, and how large they may be. */
export interface FileIntake {
  reception: Pick<Reception, 'take'>
  tools: Pick<Tools, 'files' | 'fileLimits'>
  /** Removes those that nothing came of. */
  discard(): Promise<void>
}

/** For the files of an app, counted for whoever sends them; opened before anything of them is stored. */
export async function openIntake(
  { database, tools, limits }: Stage,
  { caller, actAs: uploader }: OperationCall,
  appId: string,
): Promise<FileIntake> {
  if (uploader !== undefined) {
    await database.read((connection) => requireActor(connection, appId, uploader, caller.kind), appId)
  }
  const counted = caller.kind === 'system' ? undefined : uploader
  const reception = openReception(
    tools,
    (work) => database.write((connection) => work(workIn(connection, appId, tools)), appId),
    uploader,
    uploadMeter(limits, appId, counted).file,
  )
  return {
    reception,
    tools,
    discard: () => reception.discard(),
  }
}
