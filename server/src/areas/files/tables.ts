import { type Generated, type Selectable, sql } from 'kysely'
import type { Migrations } from '../../storage/migrate.ts'

declare module '../../storage/tables.ts' {
  interface Tables {
    files: FileTable
    file_uses: FileUseRow
  }
}

/**
 * A file, by the key its content has in the file store. The row is there before the content and goes after it, when
 * nobody can be writing any more; so whatever a crash leaves in the store is still known here.
 *
 * announced: an upload address was given out; receiving: bytes are coming in; stored: whole; doomed: to be removed.
 */
export type FileState = 'announced' | 'receiving' | 'stored' | 'doomed'

interface FileTable {
  app_id: string
  key: string
  state: FileState
  name: string
  mime: string
  extension: string
  /** Of an announced file: the most that it may have. */
  size: number
  width: number | null
  height: number | null
  /** 1: there is a small picture of it, under a key of its own. */
  has_thumbnail: number
  /** Until then somebody may be writing its content, or its small picture; 0 if nobody is. */
  writing_until: Generated<number>
  uploader: string | null
  created_at: number
  /** Since when no message has it; nothing while one does. */
  unused_since: number | null
}

export type FileRow = Selectable<FileTable>

/** A message has a file. Several can have the same one: messages are forwarded. */
export interface FileUseRow {
  app_id: string
  message_id: number
  key: string
}

export const migrations: Migrations = {
  '20261115-files': async ({ schema }) => {
    await schema
      .createTable('files')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('mime', 'text', (column) => column.notNull())
      .addColumn('extension', 'text', (column) => column.notNull())
      .addColumn('size', 'bigint', (column) => column.notNull())
      .addColumn('width', 'bigint')
      .addColumn('height', 'bigint')
      .addColumn('has_thumbnail', 'integer', (column) => column.notNull())
      .addColumn('uploader', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('unused_since', 'bigint')
      .addPrimaryKeyConstraint('files_key', ['app_id', 'key'])
      .execute()
    await schema
      .createIndex('files_unused')
      .on('files')
      .columns(['app_id', 'unused_since'])
      .where(sql.ref('unused_since'), 'is not', null)
      .execute()
    await schema
      .createTable('file_uses')
      .addColumn('app_id', 'text', (column) => column.notNull())
      .addColumn('message_id', 'bigint', (column) => column.notNull())
      .addColumn('key', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('file_uses_key', ['app_id', 'message_id', 'key'])
      .execute()
    await schema.createIndex('file_uses_by_key').on('file_uses').columns(['app_id', 'key']).execute()
  },
  '20261117-file-writers': async ({ schema }) => {
    await schema
      .alterTable('files')
      .addColumn('writing_until', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute()
  },
}
