import type { Command } from './command.ts'
export const restore: Command = { name: 'restore', usage: '', about: '', run: async () => undefined }
