/** The service that runs the kernel of this home at login: a systemd user unit, or a launchd agent on macOS. */

import { z } from 'zod'
import { defineCommand } from './lib/command.ts'
import { notesOutput, type ServiceReport } from './lib/installation.ts'

const serviceShape = z.object({
  name: z.string(),
  file: z.string().describe('the definition of the service'),
  installed: z.boolean(),
  enabled: z.boolean().nullable().describe('starts at login; null: the service manager does not answer'),
  running: z.boolean().nullable(),
  address: z.string().nullable().describe('address of the page'),
  notes: z.array(z.string()).describe('what is left to do'),
  notes_zh: z.array(z.string()).describe('the same in Chinese'),
})

const copied = (report: ServiceReport) => ({ ...report, ...notesOutput(report.notes) })

export const serviceInstall = defineCommand({
  name: 'service install',
  summary: 'run the kernel of this home at login, and again after a failure; a second call updates the service',
  example: 'service install',
  runsIn: 'no_home',
  needs: ['installation'],
  input: z.object({}),
  output: serviceShape.extend({ change: z.enum(['created', 'updated', 'unchanged']) }),
  async run({ installation }) {
    const report = await installation.service.install()
    return { ...copied(report), change: report.change }
  },
})

export const serviceUninstall = defineCommand({
  name: 'service uninstall',
  summary: 'stop the service and remove it; your data stays',
  example: 'service uninstall',
  runsIn: 'no_home',
  needs: ['installation'],
  input: z.object({}),
  output: serviceShape.extend({ removed: z.boolean().describe('false: there was no service') }),
  async run({ installation }) {
    const report = await installation.service.uninstall()
    return { ...copied(report), removed: report.removed }
  },
})

export const serviceStatus = defineCommand({
  name: 'service status',
  summary: 'show whether the service is installed, enabled and running, and the address of the page',
  example: 'service status',
  runsIn: 'no_home',
  needs: ['installation'],
  input: z.object({}),
  output: serviceShape,
  run: async ({ installation }) => copied(await installation.service.status()),
})
