import type { Command } from './command.ts'
export const backup: Command = { name: 'backup', usage: '', about: '', run: async () => undefined }
