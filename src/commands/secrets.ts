/** Secrets under names: set, listed and removed by their owner. No command says a value. */

import { z } from 'zod'
import { recordAct } from './audit.ts'
import { command } from './command.ts'

const entryShape = z.object({
  name: z.string(),
  set_at: z.string(),
  to: z.array(z.string()).describe('where tools may send it'),
  used_by: z.array(z.string()).describe('keys of the configuration that name it'),
})

const HOSTS = z
  .string()
  .optional()
  .describe(
    'where tools may send it: hosts, separated by commas; "" for nowhere (default: as before, at first nowhere)',
  )

export const secretsSet = command({
  name: 'secrets set',
  summary: 'keep a secret under a name; its value is asked for, or read from the standard input',
  runsIn: 'any_process',
  positional: ['name'],
  input: z.object({
    name: z.string().describe('how the configuration (secret:NAME) and tools name it'),
    value: z.string().meta({ secret: true }),
    to: HOSTS,
  }),
  output: entryShape.extend({ replaced: z.boolean() }),
  async run(context, { name, value, to }) {
    const { to: hosts, used_by, ...set } = context.secrets.set(name, value, to === undefined ? undefined : listed(to))
    await recordAct(context, 'secret', { name, to: [...hosts] })
    return { ...set, to: [...hosts], used_by: [...used_by] }
  },
})

export const secretsList = command({
  name: 'secrets list',
  summary: 'the names of the secrets, since when, and who uses them',
  runsIn: 'any_process',
  input: z.object({}),
  output: z.object({ items: z.array(entryShape) }),
  async run({ secrets }) {
    return { items: secrets.list().map((entry) => ({ ...entry, to: [...entry.to], used_by: [...entry.used_by] })) }
  },
})

export const secretsRemove = command({
  name: 'secrets remove',
  summary: 'forget a secret; what names it in the configuration fails from then on',
  runsIn: 'any_process',
  positional: ['name'],
  input: z.object({ name: z.string() }),
  output: entryShape,
  async run({ secrets }, { name }) {
    const removed = secrets.remove(name)
    return { ...removed, to: [...removed.to], used_by: [...removed.used_by] }
  },
})

const listed = (hosts: string): string[] => hosts.split(',').flatMap((host) => host.trim().toLowerCase() || [])
