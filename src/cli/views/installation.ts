/** Shows the service of a home, and upgrades of the program. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { style } from '../terminal.ts'

type ServiceOutput = CommandOutput<'service status'> & {
  readonly change?: CommandOutput<'service install'>['change']
  readonly removed?: boolean
}

const CHANGES = {
  created: 'Installed the service',
  updated: 'Updated the service',
  unchanged: 'The service is installed already',
} as const

export function renderService({ change, removed, ...service }: ServiceOutput): string {
  const { name, file, installed, enabled, running, address, notes } = service
  if (removed !== undefined)
    return [removed ? `Removed the service ${name} (${file}).` : `There is no service ${name}.`, ...notes].join('\n')
  return [
    ...(change === undefined ? [] : [`${CHANGES[change]}: ${name}`]),
    line('installed', installed ? file : 'no'),
    line('enabled', yesNo(enabled)),
    line('running', yesNo(running)),
    ...(address === null ? [] : [line('page', address)]),
    ...notes,
  ].join('\n')
}

const yesNo = (value: boolean | null): string => (value === null ? 'unknown' : value ? 'yes' : 'no')

const line = (label: string, text: string): string => `${style('dim', label.padEnd(12))}${text}`

type UpgradeOutput = CommandOutput<'upgrade'>

export function renderUpgrade(output: UpgradeOutput): string {
  if (output.action === 'check') return renderCheck(output)
  if (output.action === 'none') return [`${output.to} is installed.`, ...output.notes].join('\n')
  const { action, from, to, notes } = output
  const done = action === 'upgrade' ? `Upgraded from ${from} to ${to}.` : `Went back from ${from} to ${to}.`
  const restored = action === 'undo' && output.restored !== null ? [`Restored the home from ${output.restored}.`] : []
  return [done, ...restored, ...notes].join('\n')
}

function renderCheck({ installed, available, newer, previous, folder, problem }: CheckOutput): string {
  return [
    line('installed', `${installed} in ${folder}`),
    line('available', available ?? `unknown: ${problem}`),
    ...(previous === null ? [] : [line('before', `${previous}; to go back: tireless upgrade --undo`)]),
    ...(newer ? ['To upgrade: tireless upgrade'] : available === null ? [] : ['Nothing newer.']),
  ].join('\n')
}

type CheckOutput = Extract<UpgradeOutput, { action: 'check' }>
