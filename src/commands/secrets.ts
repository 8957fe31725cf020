/** Named secrets: set, list, remove. No command prints a value. */

import { z } from 'zod'
import { auditOwnerAction } from './audit.ts'
import { defineCommand } from './lib/command.ts'

const entryShape = z.object({
  name: z.string(),
  set_at: z.string(),
  to: z.array(z.string()).describe('hosts that tools may send it to'),
  used_by: z.array(z.string()).describe('configuration keys that refer to it'),
})

const HOSTS = z
  .string()
  .optional()
  .describe('hosts that tools may send it to, separated by commas; "" for none (default: unchanged, initially none)')

export const secretsSet = defineCommand({
  name: 'secrets set',
  summary: 'store a secret under a name; the value is prompted for, or read from stdin',
  example: 'secrets set GITHUB_TOKEN --to api.github.com',
  toleratesBrokenPlugins: true,
  runsIn: 'any_process',
  needs: ['clock', 'secrets', 'store'],
  positional: ['name'],
  input: z.object({
    name: z.string().describe('name; the configuration and tools refer to it as secret:NAME'),
    value: z.string().meta({ secret: true }),
    to: HOSTS,
  }),
  output: entryShape.extend({ replaced: z.boolean() }),
  async run(context, { name, value, to }) {
    const {
      to: hosts,
      used_by,
      ...set
    } = context.secrets.set(name, value, to === undefined ? undefined : splitHosts(to))
    await auditOwnerAction(context, 'secret', { name, to: [...hosts] })
    return { ...set, to: [...hosts], used_by: [...used_by] }
  },
})

export const secretsList = defineCommand({
  name: 'secrets list',
  summary: 'list secrets: name, date and use, never the value',
  example: 'secrets list',
  toleratesBrokenPlugins: true,
  runsIn: 'any_process',
  needs: ['secrets'],
  input: z.object({}),
  output: z.object({ items: z.array(entryShape) }),
  async run({ secrets }) {
    return { items: secrets.list().map((entry) => ({ ...entry, to: [...entry.to], used_by: [...entry.used_by] })) }
  },
})

export const secretsRemove = defineCommand({
  name: 'secrets remove',
  summary: 'delete a secret; configuration keys that refer to it fail from then on',
  example: 'secrets remove GITHUB_TOKEN',
  toleratesBrokenPlugins: true,
  runsIn: 'any_process',
  needs: ['secrets'],
  positional: ['name'],
  input: z.object({ name: z.string() }),
  output: entryShape,
  async run({ secrets }, { name }) {
    const removed = secrets.remove(name)
    return { ...removed, to: [...removed.to], used_by: [...removed.used_by] }
  },
})

const splitHosts = (hosts: string): string[] => hosts.split(',').flatMap((host) => host.trim().toLowerCase() || [])
