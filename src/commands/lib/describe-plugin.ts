/** What a plugin may do, in words, in both languages: the owner reads it before approving. */

import type { Language } from '../../domain/language.ts'
import type { PluginState } from '../../domain/plugin-manifest.ts'

const TEXTS = {
  en: {
    trusted: 'It runs inside Tireless, with all your rights.',
    sandboxed: 'It runs in a process of its own, in the sandbox.',
    adds: (what: string) => `It adds: ${what}.`,
    anything: 'It has no manifest: it may add anything.',
    effect: (tool: string, recovery: string, reach: string) => `Calls of ${tool} count as: ${recovery}, ${reach}.`,
    strictest: (tools: string) => `Every call of ${tools} needs your approval: no effect is declared.`,
    network: (hosts: string) => `It may reach: ${hosts}.`,
    noNetwork: 'It has no network.',
    writes: (paths: string) => `It may write: ${paths}.`,
    reads: (paths: string) => `It may read: ${paths}.`,
    secrets: (names: string) => `It gets the secrets: ${names}.`,
    noSecrets: 'It gets no secret.',
  },
  zh: {
    trusted: '它在 Tireless 进程内运行，拥有您的全部权限。',
    sandboxed: '它在沙箱中的独立进程里运行。',
    adds: (what: string) => `它添加：${what}。`,
    anything: '它没有清单：可以添加任何内容。',
    effect: (tool: string, recovery: string, reach: string) => `${tool} 的调用按以下处理：${recovery}，${reach}。`,
    strictest: (tools: string) => `${tools} 的每次调用都需要您批准：没有声明效果。`,
    network: (hosts: string) => `它可以访问：${hosts}。`,
    noNetwork: '它没有网络。',
    writes: (paths: string) => `它可以写入：${paths}。`,
    reads: (paths: string) => `它可以读取：${paths}。`,
    secrets: (names: string) => `它会得到这些密钥：${names}。`,
    noSecrets: '它得不到任何密钥。',
  },
} as const

/** Contract: pure. */
export function describePlugin(plugin: PluginState, language: Language): string {
  const { name, version, source, trust, digest } = plugin
  const words = TEXTS[language]
  const title = [name, version, `(${source}, ${digest?.slice(0, 12)})`].filter((part) => part !== null).join(' ')
  const own = trust === 'sandboxed' ? sandboxLines(plugin, language) : [words.trusted]
  return [title, ...own, ...addedLines(plugin, language), ...secretLines(plugin, language)].join('\n  ')
}

function addedLines({ provides }: PluginState, language: Language): readonly string[] {
  const words = TEXTS[language]
  const parts = Object.entries(provides).map(([kind, names]) => `${kind} ${names.join(', ')}`)
  return [parts.length === 0 ? words.anything : words.adds(parts.join('; '))]
}

function sandboxLines({ needs, provides, effects }: PluginState, language: Language): readonly string[] {
  const words = TEXTS[language]
  const undeclared = (provides.tools ?? []).filter((tool) => !Object.hasOwn(effects, tool))
  return [
    words.sandboxed,
    needs.network.length === 0 ? words.noNetwork : words.network(needs.network.join(', ')),
    ...(needs.folders.length === 0 ? [] : [words.writes(needs.folders.join(', '))]),
    ...(needs.reads.length === 0 ? [] : [words.reads(needs.reads.join(', '))]),
    ...Object.entries(effects).map(([tool, { recovery, reach }]) => words.effect(tool, recovery, reach)),
    ...(undeclared.length === 0 ? [] : [words.strictest(undeclared.join(', '))]),
  ]
}

function secretLines({ needs: { secrets } }: PluginState, language: Language): readonly string[] {
  const words = TEXTS[language]
  return [secrets.length === 0 ? words.noSecrets : words.secrets(secrets.join(', '))]
}
