/** Copies the whole home while work continues, lists such copies, and restores one. */

import { z } from 'zod'
import { defineCommand } from './lib/command.ts'

const PRIVATE_NOTE = 'the backup contains secrets (configuration, token) and is readable only for you; keep it private'
const WITH_SECRETS = 'the backup contains the values of your secrets'
const WITHOUT_SECRETS =
  'the backup does not contain the values of your secrets; set them again after a restore, or add --secrets'
const NOT_INCLUDED = 'not in the backup: the log, and workspaces outside the home'

export const backup = defineCommand({
  name: 'backup',
  summary: 'copy the home into a new or empty folder while work continues',
  example: 'backup ~/backups/monday',
  runsIn: 'any_process',
  needs: ['backups', 'secrets', 'store'],
  positional: ['dir'],
  input: z.object({
    dir: z.string().min(1).describe('a new or empty folder outside the home').meta({ path: true }),
    secrets: z.boolean().default(false).describe('include the values of your secrets'),
  }),
  output: z.object({
    dir: z.string(),
    created_at: z.string(),
    files: z.number(),
    bytes: z.number(),
    skipped: z.array(z.string()),
    notes: z.array(z.string()),
  }),
  async run({ backups, store, secrets: kept }, { dir, secrets }) {
    const made = await backups.make(dir, (file) => store.backup(file), secrets)
    const secretNote = kept.list().length === 0 ? [] : [secrets ? WITH_SECRETS : WITHOUT_SECRETS]
    return { ...made, skipped: [...made.skipped], notes: [PRIVATE_NOTE, ...secretNote, NOT_INCLUDED] }
  },
})

export const backupsList = defineCommand({
  name: 'backups list',
  summary: 'list the backups in a folder, newest first',
  example: 'backups list',
  runsIn: 'any_process',
  needs: ['backups'],
  input: z.object({
    in: z.string().min(1).optional().describe('folder with backups; default: beside the home').meta({ path: true }),
  }),
  output: z.object({
    folder: z.string(),
    items: z.array(
      z.object({
        dir: z.string(),
        created_at: z.string(),
        home: z.string().describe('the home that was copied'),
        files: z.number(),
        bytes: z.number(),
        secrets: z.boolean().describe('whether it contains the values of secrets'),
      }),
    ),
  }),
  async run({ backups }, { in: folder = backups.folder }) {
    return { folder, items: (await backups.list(folder)).map((backup) => ({ ...backup })) }
  },
})

export const restore = defineCommand({
  name: 'restore',
  summary: 'replace the home with a backup; the current home is moved aside',
  example: 'restore ~/backups/monday',
  runsIn: 'closed_home',
  needs: ['backups'],
  positional: ['dir'],
  input: z.object({ dir: z.string().min(1).describe('a folder made by backup').meta({ path: true }) }),
  output: z.object({
    from: z.string(),
    created_at: z.string(),
    files: z.number(),
    before: z.string().nullable().describe('folder of the previous home'),
    notes: z.array(z.string()),
  }),
  async run({ backups }, { dir }) {
    const { notes, ...restored } = await backups.restore(dir)
    return { ...restored, notes: [...notes] }
  },
})
