/** Copies the whole home while work continues, lists such copies, and restores one. */

import { z } from 'zod'
import { describeNotIncluded, isToBring, NOT_INCLUDED_KINDS } from '../domain/not-included.ts'
import { defineCommand } from './lib/command.ts'

const PRIVATE_NOTE = 'the backup contains secrets (configuration, token) and is readable only for you; keep it private'
const WITH_SECRETS = 'the backup contains the values of your secrets'
const WITHOUT_SECRETS =
  'the backup does not contain the values of your secrets; set them again after a restore, or add --secrets'

const notIncludedShape = z
  .array(
    z.object({
      kind: z.enum(NOT_INCLUDED_KINDS),
      path: z.string().describe('relative to the home, or the absolute path of something outside'),
      target: z.string().nullable().describe('where a link leads'),
      bytes: z.number().nullable().describe('null: it is not there now, or cannot be read'),
      at_least: z.boolean().describe('whether there is more: large folders are not counted to the end'),
    }),
  )
  .describe('everything of the home that is not in the backup')

export const backup = defineCommand({
  name: 'backup',
  summary: 'copy the home into a new or empty folder while work continues; names what it leaves out',
  example: 'backup ~/backups/monday',
  runsIn: 'any_process',
  needs: ['backups', 'secrets', 'store'],
  positional: ['dir'],
  input: z.object({
    dir: z.string().min(1).describe('a new or empty folder outside the home').meta({ path: true }),
    secrets: z.boolean().default(false).describe('include the values of your secrets'),
    follow_links: z
      .boolean()
      .default(false)
      .describe('copy the files that your links in the home lead to, such as a linked agent folder'),
  }),
  output: z.object({
    dir: z.string(),
    created_at: z.string(),
    files: z.number(),
    bytes: z.number(),
    parts: z
      .array(z.object({ name: z.string(), files: z.number(), bytes: z.number() }))
      .describe('its files by their first folder; sandbox: what agents keep in their ~, and what was taken from them'),
    skipped: z.array(z.string()).describe('what is not in the backup, in words'),
    not_included: notIncludedShape,
    notes: z.array(z.string()),
  }),
  async run({ backups, store, secrets: kept }, { dir, secrets, follow_links: followLinks }) {
    const workspaces = (await store.workspaces()).map(({ workspace }) => workspace)
    const made = await backups.make(dir, (file) => store.backup(file), { secrets, followLinks, workspaces })
    const secretNote = kept.list().length === 0 ? [] : [secrets ? WITH_SECRETS : WITHOUT_SECRETS]
    return {
      ...made,
      parts: [...made.parts],
      skipped: made.not_included.map((one) => describeNotIncluded(one)),
      not_included: [...made.not_included],
      notes: [PRIVATE_NOTE, ...secretNote],
    }
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
    to_bring: z.array(z.string()).describe('what the backup lacks and the home uses: bring it from the old machine'),
    not_included: notIncludedShape,
  }),
  async run({ backups }, { dir }) {
    const { notes, not_included, ...restored } = await backups.restore(dir)
    const to_bring = not_included.filter(isToBring).map((one) => describeNotIncluded(one))
    return { ...restored, notes: [...notes], to_bring, not_included: [...not_included] }
  },
})
