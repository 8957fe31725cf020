/** The whole home, copied while work goes on; and such a copy put in its place. */

import { z } from 'zod'
import { command } from './command.ts'

const PRIVATE = 'it holds what is secret in the home (configuration, token), readable for you alone: keep it so'
const WITH = 'the values of your secrets are in it'
const WITHOUT = 'the values of your secrets are not in it: set them again after a restore elsewhere, or add --secrets'
const ELSEWHERE = 'not part of it: the log, and folders outside of the home that sessions worked in'

export const backup = command({
  name: 'backup',
  summary: 'copy the home into a new or empty folder, while work goes on',
  runsIn: 'any_process',
  positional: ['dir'],
  input: z.object({
    dir: z.string().min(1).describe('a new or empty folder outside of the home').meta({ path: true }),
    secrets: z.boolean().default(false).describe('also the values of your secrets'),
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
    const values = kept.list().length === 0 ? [] : [secrets ? WITH : WITHOUT]
    return { ...made, skipped: [...made.skipped], notes: [PRIVATE, ...values, ELSEWHERE] }
  },
})

export const restore = command({
  name: 'restore',
  summary: 'put a backup in the place of the home; what is there now is set aside',
  runsIn: 'closed_home',
  positional: ['dir'],
  input: z.object({ dir: z.string().min(1).describe('a folder that backup has made').meta({ path: true }) }),
  output: z.object({
    from: z.string(),
    created_at: z.string(),
    files: z.number(),
    before: z.string().nullable().describe('where what was there before is now'),
  }),
  run: ({ backups }, { dir }) => backups.restore(dir),
})
