/** Shows the service of a home, and upgrades of the program. */

import { style } from '../terminal.ts'

interface ServiceOutput {
  readonly name: string
  readonly file: string
  readonly installed: boolean
  readonly enabled: boolean | null
  readonly running: boolean | null
  readonly address: string | null
  readonly notes: readonly string[]
  readonly change?: string
  readonly removed?: boolean
}

const CHANGES: Readonly<Record<string, string>> = {
  created: 'Installed the service',
  updated: 'Updated the service',
  unchanged: 'The service is installed already',
}

export function renderService({ change, removed, ...service }: ServiceOutput): string {
  const { name, file, installed, enabled, running, address, notes } = service
  if (removed !== undefined)
    return [removed ? `Removed the service ${name} (${file}).` : `There is no service ${name}.`, ...notes].join('\n')
  return [
    ...(change === undefined ? [] : [`${CHANGES[change] ?? change}: ${name}`]),
    line('installed', installed ? file : 'no'),
    line('enabled', yesNo(enabled)),
    line('running', yesNo(running)),
    ...(address === null ? [] : [line('page', address)]),
    ...notes,
  ].join('\n')
}

const yesNo = (value: boolean | null): string => (value === null ? 'unknown' : value ? 'yes' : 'no')

const line = (label: string, text: string): string => `${style('dim', label.padEnd(12))}${text}`

type UpgradeOutput =
  | {
      readonly action: 'check'
      readonly installed: string
      readonly available: string | null
      readonly newer: boolean
      readonly previous: string | null
      readonly folder: string
      readonly problem: string | null
    }
  | { readonly action: 'none'; readonly to: string; readonly notes: readonly string[] }
  | { readonly action: 'upgrade'; readonly from: string; readonly to: string; readonly notes: readonly string[] }
  | {
      readonly action: 'undo'
      readonly from: string
      readonly to: string
      readonly restored: string | null
      readonly notes: readonly string[]
    }

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
