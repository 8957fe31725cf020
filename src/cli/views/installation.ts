/** Shows the service of a home, and upgrades of the program. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { terminalLanguage } from './language.ts'
import { formatLabelled } from './table.ts'

type ServiceOutput = CommandOutput<'service status'> & {
  readonly change?: CommandOutput<'service install'>['change']
  readonly removed?: boolean
}

const TEXTS = {
  en: {
    changes: {
      created: 'Installed the service',
      updated: 'Updated the service',
      unchanged: 'The service is installed already',
    },
    changed: (what: string, name: string) => `${what}: ${name}`,
    removed: (name: string, file: string) => `Removed the service ${name} (${file}).`,
    noService: (name: string) => `There is no service ${name}.`,
    labels: { installed: 'installed', enabled: 'enabled', running: 'running', page: 'page', available: 'available' },
    yes: 'yes',
    no: 'no',
    unknown: 'unknown',
    isInstalled: (version: string) => `${version} is installed.`,
    upgraded: (from: string, to: string) => `Upgraded from ${from} to ${to}.`,
    wentBack: (from: string, to: string) => `Went back from ${from} to ${to}.`,
    restored: (backup: string) => `Restored the home from ${backup}.`,
    inFolder: (version: string, folder: string) => `${version} in ${folder}`,
    unknownBecause: (problem: string | null) => `unknown: ${problem}`,
    before: 'before',
    undo: (version: string) => `${version}; to go back: tireless upgrade --undo`,
    upgrade: 'To upgrade: tireless upgrade',
    newest: 'Nothing newer.',
  },
  zh: {
    changes: { created: '已安装服务', updated: '已更新服务', unchanged: '服务已经安装' },
    changed: (what: string, name: string) => `${what}：${name}`,
    removed: (name: string, file: string) => `已移除服务 ${name}（${file}）。`,
    noService: (name: string) => `没有服务 ${name}。`,
    labels: { installed: '已安装', enabled: '登录时启动', running: '运行中', page: '页面', available: '可用版本' },
    yes: '是',
    no: '否',
    unknown: '未知',
    isInstalled: (version: string) => `已安装 ${version}。`,
    upgraded: (from: string, to: string) => `已从 ${from} 升级到 ${to}。`,
    wentBack: (from: string, to: string) => `已从 ${from} 回到 ${to}。`,
    restored: (backup: string) => `已从 ${backup} 恢复目录。`,
    inFolder: (version: string, folder: string) => `${version}，位于 ${folder}`,
    unknownBecause: (problem: string | null) => `未知：${problem}`,
    before: '上个版本',
    undo: (version: string) => `${version}；要回去：tireless upgrade --undo`,
    upgrade: '升级：tireless upgrade',
    newest: '没有更新的版本。',
  },
} as const

const texts = () => TEXTS[terminalLanguage()]

const notesOf = ({ notes, notes_zh }: { readonly notes: readonly string[]; readonly notes_zh: readonly string[] }) =>
  terminalLanguage() === 'zh' ? notes_zh : notes

export function renderService({ change, removed, ...service }: ServiceOutput): string {
  const { name, file, installed, enabled, running, address } = service
  const { changes, changed, removed: sayRemoved, noService, labels, no } = texts()
  if (removed !== undefined) return [removed ? sayRemoved(name, file) : noService(name), ...notesOf(service)].join('\n')
  return [
    ...(change === undefined ? [] : [changed(changes[change], name)]),
    formatLabelled([
      [labels.installed, installed ? file : no],
      [labels.enabled, yesNo(enabled)],
      [labels.running, yesNo(running)],
      ...(address === null ? [] : [[labels.page, address] as const]),
    ]),
    ...notesOf(service),
  ].join('\n')
}

function yesNo(value: boolean | null): string {
  const { yes, no, unknown } = texts()
  return value === null ? unknown : value ? yes : no
}

type UpgradeOutput = CommandOutput<'upgrade'>

export function renderUpgrade(output: UpgradeOutput): string {
  const { isInstalled, upgraded, wentBack, restored } = texts()
  if (output.action === 'check') return renderCheck(output)
  if (output.action === 'none') return [isInstalled(output.to), ...notesOf(output)].join('\n')
  const { action, from, to } = output
  return [
    action === 'upgrade' ? upgraded(from, to) : wentBack(from, to),
    ...(action === 'undo' && output.restored !== null ? [restored(output.restored)] : []),
    ...notesOf(output),
  ].join('\n')
}

function renderCheck({ installed, available, newer, previous, folder, problem }: CheckOutput): string {
  const { labels, inFolder, unknownBecause, before, undo, upgrade, newest } = texts()
  return [
    formatLabelled([
      [labels.installed, inFolder(installed, folder)],
      [labels.available, available ?? unknownBecause(problem)],
      ...(previous === null ? [] : [[before, undo(previous)] as const]),
    ]),
    ...(newer ? [upgrade] : available === null ? [] : [newest]),
  ].join('\n')
}

type CheckOutput = Extract<UpgradeOutput, { action: 'check' }>
