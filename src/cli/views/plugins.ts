/** Shows plugins and approvals of plugins. Texts of a plugin are not the program's own, so they are escaped. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { escapeInvisible } from '../terminal.ts'
import { terminalLanguage } from './language.ts'
import { formatTable } from './table.ts'

const TEXTS = {
  en: {
    none: 'There are no plugins. Add one: tireless plugins add PATH; write one: tireless plugins new NAME',
    columns: { name: 'name', state: 'state', trust: 'trust', provides: 'provides', source: 'source' },
    states: {
      ...{ loaded: 'loaded', approved: 'approved', changed: 'changed since approval', unapproved: 'not approved' },
      failed: 'failed',
    },
    approved: (name: string, digest: string) => `Approved ${name} (${digest}). A change to it needs a new approval.`,
    removed: (name: string, source: string) => `Removed ${name} from the configuration. Its files stay: ${source}`,
    written: (folder: string) =>
      `Wrote ${folder}. Test it: node --test ${folder}/index.test.ts; then: tireless plugins add ${folder}`,
    restart: 'To apply this: tireless stop, then tireless start',
  },
  zh: {
    none: '没有插件。添加：tireless plugins add PATH；新建：tireless plugins new NAME',
    columns: { name: '名称', state: '状态', trust: '信任', provides: '提供', source: '来源' },
    states: {
      ...{ loaded: '已加载', approved: '已批准', changed: '批准后有改动', unapproved: '未批准' },
      failed: '失败',
    },
    approved: (name: string, digest: string) => `已批准 ${name}（${digest}）。改动后需要重新批准。`,
    removed: (name: string, source: string) => `已从配置中移除 ${name}。文件保留：${source}`,
    written: (folder: string) =>
      `已写入 ${folder}。测试：node --test ${folder}/index.test.ts；然后：tireless plugins add ${folder}`,
    restart: '要生效：tireless stop，然后 tireless start',
  },
} as const

const texts = () => TEXTS[terminalLanguage()]

export function renderPlugins({ items }: CommandOutput<'plugins list'>): string {
  const { none, columns, states } = texts()
  if (items.length === 0) return none
  const rows = items.map(({ name, state, trust, provides, source }) => ({
    ...{ [columns.name]: escapeInvisible(name), [columns.state]: states[state], [columns.trust]: trust },
    [columns.provides]: escapeInvisible(
      Object.entries(provides)
        .map(([kind, names]) => `${kind}: ${names.join(', ')}`)
        .join('; '),
    ),
    [columns.source]: escapeInvisible(source),
  }))
  const problems = items.flatMap(({ why }) => (why === null ? [] : [escapeInvisible(why)]))
  return [formatTable(rows, Object.values(columns)), ...problems].join('\n')
}

export function renderPluginApproval({ plugin, restart }: CommandOutput<'plugins approve'>): string {
  const words = texts()
  const line = words.approved(escapeInvisible(plugin.name), plugin.digest?.slice(0, 12) ?? '')
  return [line, ...(restart ? [words.restart] : [])].join('\n')
}

export function renderRemovedPlugin({ name, source, restart }: CommandOutput<'plugins remove'>): string {
  const words = texts()
  return [words.removed(escapeInvisible(name), escapeInvisible(source)), ...(restart ? [words.restart] : [])].join('\n')
}

export const renderNewPlugin = ({ folder }: CommandOutput<'plugins new'>): string => texts().written(folder)
