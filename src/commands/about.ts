/** Says which program this is and where its home is; on request, whether there is a newer version. */

import { z } from 'zod'
import { asTirelessError } from '../domain/error.ts'
import { defineCommand } from './lib/command.ts'

export const about = defineCommand({
  name: 'about',
  summary: 'show the version of the program, and where the home and its files are',
  example: 'about --check',
  toleratesBrokenPlugins: true,
  runsIn: 'any_process',
  needs: ['backups', 'explainConfig', 'homeSetup', 'installation', 'kernel', 'machine'],
  input: z.object({ check: z.boolean().default(false).describe('also ask whether there is a newer version') }),
  output: z.object({
    version: z.string(),
    kind: z.enum(['checkout', 'package']),
    program: z.string().describe('folder of the program'),
    home: z.string(),
    config: z.string().nullable().describe('configuration file; null: there is none'),
    backups: z.string().describe('folder in which backups are put by default'),
    node: z.string(),
    running: z.boolean().describe('whether this process runs the kernel'),
    upgrade: z
      .object({
        available: z.string().nullable(),
        newer: z.boolean(),
        problem: z.string().nullable().describe('why the available version is unknown'),
      })
      .nullable()
      .describe('null: it was not asked for'),
  }),
  async run({ backups, explainConfig, homeSetup, installation, kernel, machine }, { check }) {
    return {
      ...installation.describe(),
      ...{ home: homeSetup.home, config: explainConfig().file, backups: backups.folder, node: machine.node.got },
      running: kernel.isRunning(),
      upgrade: check ? await checkUpgrade(() => installation.check(undefined)) : null,
    }
  },
})

interface Available {
  readonly available: string | null
  readonly newer: boolean
  readonly problem: string | null
}

const checkUpgrade = async (ask: () => Promise<Available>): Promise<Available> =>
  ask().then(
    ({ available, newer, problem }) => ({ available, newer, problem }),
    (thrown) => ({ available: null, newer: false, problem: asTirelessError(thrown).message }),
  )
