/** What agents may do without asking, and the owner's settings about it. */

import { z } from 'zod'
import { TirelessError } from '../domain/error.ts'
import { auditOwnerAction } from './audit.ts'
import { defineCommand } from './lib/command.ts'
import type { ConfigChange, Needs } from './lib/context.ts'
import { CALL_KINDS, CALL_OUTCOMES, policyTable } from './lib/policy-table.ts'

const UNATTENDED = ['park', 'deny'] as const

const settingsShape = z.object({
  unattended: z.enum(UNATTENDED).describe('a call that needs approval: park the run, or deny the call'),
  allow_hosts: z.array(z.string()).describe('hosts that agents may read without being told to'),
  quiet_hours: z.string().nullable().describe('no notices in these hours'),
  sandbox: z.string(),
})

const outcome = z.enum(CALL_OUTCOMES).describe('depends: on the words and the address')

export const policyShow = defineCommand({
  name: 'policy show',
  summary: 'show what agents may do alone, what needs your approval, and the hosts that you allowed',
  example: 'policy show',
  runsIn: 'any_process',
  needs: ['configInUse'],
  input: z.object({}),
  output: settingsShape.extend({
    rules: z.array(
      z.object({
        kind: z.enum(CALL_KINDS),
        before: outcome.describe('before the session has read from outside'),
        after: outcome.describe('after it has'),
      }),
    ),
  }),
  run: async (context) => ({ ...readSettings(context), rules: [...policyTable()] }),
})

function readSettings({ configInUse }: Needs<'configInUse'>): z.output<typeof settingsShape> {
  const items = configInUse()
  const value = (key: string): unknown => items.find((item) => item.key === key)?.value
  return settingsShape.parse({
    unattended: value('policy.unattended'),
    allow_hosts: items.filter(({ key }) => /^policy\.allow_hosts\[\d+\]$/.test(key)).map((item) => item.value),
    quiet_hours: value('kernel.quiet_hours'),
    sandbox: value('sandbox'),
  })
}

export const policySet = defineCommand({
  name: 'policy set',
  summary: 'change which hosts agents may read, what happens when the owner does not answer, and the quiet hours',
  example: 'policy set --allow api.example.com',
  runsIn: 'any_process',
  needs: ['changeConfig', 'clock', 'configInUse', 'store'],
  input: z.object({
    allow: z.string().min(1).optional().describe('a host that agents may read, such as api.example.com'),
    disallow: z.string().min(1).optional().describe('a host to remove from the list'),
    unattended: z.enum(UNATTENDED).optional().describe('a call that needs approval: park the run, or deny the call'),
    quiet_hours: z.string().optional().describe('hours without notices, such as 22:00-07:00, or "none"'),
  }),
  output: settingsShape,
  async run(context, { allow, disallow, unattended, quiet_hours }) {
    const { allow_hosts: before } = readSettings(context)
    if (disallow !== undefined && !before.includes(disallow.trim()))
      throw new TirelessError('not_found', { what: 'the host is not in the list', got: disallow })
    const hosts = [...before.filter((host) => host !== disallow?.trim() && host !== allow?.trim()), allow?.trim() ?? []]
    const isChanged = allow !== undefined || disallow !== undefined
    const changes: readonly ConfigChange[] = [
      ...(isChanged ? [{ path: ['policy', 'allow_hosts'], value: hosts.flat() }] : []),
      ...(unattended === undefined ? [] : [{ path: ['policy', 'unattended'], value: unattended }]),
      ...(quiet_hours === undefined
        ? []
        : [{ path: ['kernel', 'quiet_hours'], value: quiet_hours.trim() === 'none' ? null : quiet_hours.trim() }]),
    ]
    if (changes.length === 0) throw new TirelessError('usage', 'nothing to change was given')
    context.changeConfig(changes)
    const now = readSettings(context)
    await auditOwnerAction(context, 'policy', { ...now })
    return now
  },
})
