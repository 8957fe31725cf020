/** Replaces the program by another version, after that version has opened a copy of the home; or goes back. */

import { z } from 'zod'
import { TirelessError } from '../domain/error.ts'
import type { PeopleText } from '../domain/language.ts'
import { defineCommand } from './lib/command.ts'
import { notesOutput } from './lib/installation.ts'

const checkShape = z.object({
  action: z.literal('check'),
  installed: z.string(),
  available: z.string().nullable(),
  newer: z.boolean(),
  previous: z.string().nullable().describe('the version that --undo goes back to'),
  folder: z.string().describe('where the program is installed'),
  problem: z.string().nullable().describe('why the available version is unknown'),
})

const upgradeShape = z.object({
  action: z.enum(['upgrade', 'none']).describe('none: the installed version is the newest'),
  from: z.string(),
  to: z.string(),
  backup: z.string().nullable().describe('backup of the home from before'),
  notes: z.array(z.string()),
  notes_zh: z.array(z.string()).describe('the same in Chinese'),
})

const undoShape = z.object({
  action: z.literal('undo'),
  from: z.string(),
  to: z.string(),
  restored: z.string().nullable().describe('the backup that replaced the home; null: the home is as it was'),
  notes: z.array(z.string()),
  notes_zh: z.array(z.string()).describe('the same in Chinese'),
})

export const upgrade = defineCommand({
  name: 'upgrade',
  summary: 'install another version beside this one, try it on a copy of the home, then switch to it',
  example: 'upgrade --check',
  // The new version opens the home in processes of its own.
  runsIn: 'no_home',
  needs: ['installation'],
  input: z.object({
    check: z.boolean().default(false).describe('only say what is installed and what is available'),
    from: z
      .string()
      .min(1)
      .optional()
      .describe('a tarball (FILE.tgz) or a version; default: the newest in the registry'),
    undo: z.boolean().default(false).describe('go back to the version before the last upgrade'),
    backups: z
      .string()
      .optional()
      .describe('folder for the backup of the home; default: beside the home, HOME-backups')
      .meta({ path: true }),
  }),
  output: z.discriminatedUnion('action', [checkShape, upgradeShape, undoShape]),
  async run({ installation }, { check, from, undo, backups }, tell) {
    if (undo && (check || from !== undefined))
      throw new TirelessError('usage', { what: '--undo cannot be combined with --check or --from', got: 'both' })
    const note = (said: PeopleText): void => tell({ kind: 'note', ...said })
    if (undo) {
      const undone = await installation.undo(note)
      return { action: 'undo' as const, ...undone, ...notesOutput(undone.notes) }
    }
    const found = check || from === undefined ? await installation.check(from) : undefined
    if (check && found) return { action: 'check' as const, ...found }
    if (found?.problem)
      throw new TirelessError('conflict', { what: 'the newest version is unknown', got: found.problem })
    if (found && !found.newer) {
      const { installed, available } = found
      const newest = available ?? installed
      const note = {
        text: `The newest version is ${newest}. To install another: --from VERSION`,
        zh: `最新版本是 ${newest}。安装其他版本：--from VERSION`,
      }
      return { action: 'none' as const, from: installed, to: installed, backup: null, ...notesOutput([note]) }
    }
    const done = await installation.upgrade(from, backups, note)
    return { action: 'upgrade' as const, ...done, ...notesOutput(done.notes) }
  },
  exitCode: (output) => (output.action === 'check' && output.problem !== null ? 1 : 0),
})
