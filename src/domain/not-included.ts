/** What a backup of a home does not contain, and why. */

import { formatBytes } from './byte-size.ts'
import type { Language } from './language.ts'

export const NOT_INCLUDED_KINDS = [
  'link',
  'unreadable',
  'special',
  'repository',
  'workspace',
  'configuration',
  'secrets',
  'log',
  'browser',
  'earlier',
] as const
type NotIncludedKind = (typeof NOT_INCLUDED_KINDS)[number]

export interface NotIncluded {
  readonly kind: NotIncludedKind
  /** Relative to the home, or the absolute path of something outside. */
  readonly path: string
  /** Where a link, or the pointer of a git work tree, leads. */
  readonly target: string | null
  /** Null: it is not there now, or it cannot be read. */
  readonly bytes: number | null
  /** True: there is more than `bytes`; large folders are not counted to the end. */
  readonly at_least: boolean
}

/** The kinds that a restore on another machine lacks: everything else belongs to the machine, or is made again. */
const TO_BRING: ReadonlySet<NotIncludedKind> = new Set([
  ...(['link', 'unreadable', 'repository', 'workspace', 'configuration', 'secrets'] as const),
])

export const isToBring = ({ kind }: NotIncluded): boolean => TO_BRING.has(kind)

/** Contract: pure; one line for people. */
export function describeNotIncluded(one: NotIncluded, language: Language = 'en'): string {
  const { more, separators } = TEXTS[language]
  const [afterPath, beforeSize] = separators
  const size = one.bytes === null ? '' : `${beforeSize}${one.at_least ? more : ''}${formatBytes(one.bytes)}`
  return `${one.path}${afterPath}${reasonOf(one, language)}${size}`
}

function reasonOf({ kind, target, bytes }: NotIncluded, language: Language): string {
  const texts = TEXTS[language]
  switch (kind) {
    case 'link':
      return bytes === null ? texts.brokenLink(target ?? '') : texts.link(target ?? '')
    case 'repository':
      return texts.repository(target ?? '')
    case 'workspace':
      return bytes === null ? texts.absentWorkspace : texts.workspace
    default:
      return texts[kind]
  }
}

const TEXTS = {
  en: {
    more: 'more than ',
    separators: [': ', ', '],
    link: (target: string) => `a link to ${target}; only the link is copied, its content with --follow-links`,
    brokenLink: (target: string) => `a link to ${target}, which cannot be read now; only the link is copied`,
    repository: (target: string) => `a git work tree of the repository ${target}, which is outside of the home`,
    workspace: 'a workspace outside of the home',
    absentWorkspace: 'a workspace outside of the home, which is not on this machine now',
    unreadable: 'no permission to read',
    special: 'not a file, folder or link',
    configuration: 'the configuration file, which is outside of the home',
    secrets: 'the values of your secrets; add --secrets',
    log: 'the log, which belongs to this machine',
    browser: 'profiles of browsers that are open now; each start deletes them',
    earlier: 'what a restore, a move or an upgrade kept of the home before it',
  },
  zh: {
    more: '超过 ',
    separators: ['：', '，'],
    link: (target: string) => `指向 ${target} 的链接；只复制链接本身，加 --follow-links 才复制其内容`,
    brokenLink: (target: string) => `指向 ${target} 的链接，目标现在无法读取；只复制链接本身`,
    repository: (target: string) => `git 工作树，其仓库 ${target} 在目录之外`,
    workspace: '目录之外的工作文件夹',
    absentWorkspace: '目录之外的工作文件夹，现在不在这台机器上',
    unreadable: '没有读取权限',
    special: '不是文件、文件夹或链接',
    configuration: '配置文件，在目录之外',
    secrets: '密钥的值；加 --secrets 才包含',
    log: '日志，属于这台机器',
    browser: '正在打开的浏览器的配置；每次启动都会删除',
    earlier: '恢复、迁移或升级时保留的旧内容',
  },
} as const satisfies Record<Language, object>
