/**
 * Tells the owner of texts that were saved next to a document's file: each stands in the list of what waits for him
 * until he has looked.
 */

import type { SavedCopy } from '../../domain/document.ts'
import type { PeopleText } from '../../domain/language.ts'
import type { NeedChoice } from '../../domain/need.ts'
import type { OwnerNeeds } from '../../ports/needs.ts'

interface NewCopy {
  /** Name of the document. */
  readonly document: string
  readonly file: string
  readonly path: string
  readonly kind: SavedCopy['kind']
  /** Why it could not be used as it was; undefined: it is a text that could. */
  readonly why?: string | undefined
}

export interface CopyNotices {
  /** Contract: the owner's list has it when this resolves; called before the copy is made, so that none is unsaid. */
  tell(copy: NewCopy): Promise<void>
  /** Contract: the copy is gone, or was not made. */
  withdraw(file: string): Promise<void>
  /** Contract: no further copies of this document are made in the folder. */
  tellFull(document: string, folder: string, bytes: number): Promise<void>
  /** Contract: there is room again. */
  withdrawFull(document: string): Promise<void>
}

/** `filesOf`: whose documents they are, so that homes that share a store do not mix theirs up. */
export function createCopyNotices(needs: OwnerNeeds, filesOf: string): CopyNotices {
  const sameAs = (file: string): string => `copy of a document ${filesOf} ${file}`
  const fullAs = (document: string): string => `copies of a document ${filesOf} ${document}`
  return {
    async tell(copy) {
      await needs.open({
        kind: 'failure',
        same_as: sameAs(copy.file),
        title: titleOf(copy),
        body: bodyOf(copy),
        choices: choicesOf(copy),
      })
    },
    withdraw: (file) => needs.withdraw(sameAs(file)),
    async tellFull(document, folder, bytes) {
      const size = `${Math.round(bytes / 1024 ** 2)} MB`
      await needs.open({
        kind: 'space',
        same_as: fullAs(document),
        title: {
          text: `No more copies of ${document} are set aside, because there are too many`,
          zh: `不再把 ${document} 的副本放到一边，因为太多了`,
        },
        body: {
          text: [
            `The copies of ${document} in ${folder} take ${size}. None was deleted.`,
            `Until some are gone, an unusable or conflicting ${document} stays where it is and is not read.`,
            'See them: tireless documents list. Delete one: tireless state discard COPY.',
          ].join('\n'),
          zh: [
            `${folder} 里 ${document} 的副本占用 ${size}。没有删除任何一份。`,
            `在删除一些之前，无法使用或有冲突的 ${document} 会留在原处，不会被读取。`,
            '查看：tireless documents list。删除一份：tireless state discard COPY。',
          ].join('\n'),
        },
        choices: [SEEN],
      })
    },
    withdrawFull: (document) => needs.withdraw(fullAs(document)),
  }
}

/** For files without an owner who could be told. */
export const NO_NOTICES: CopyNotices = {
  tell: async () => {},
  withdraw: async () => {},
  tellFull: async () => {},
  withdrawFull: async () => {},
}

/** Reasons of read-file.ts, in Chinese. */
const REASONS_ZH: Readonly<Record<string, string>> = {
  'it is larger than 1 MB': '它超过 1 MB',
  'it is not UTF-8 text': '它不是 UTF-8 文本',
  'it contains a NUL character': '它含有 NUL 字符',
  'it is not a regular file': '它不是普通文件',
}

function titleOf({ document, kind, why }: NewCopy): PeopleText {
  if (kind === 'torn')
    return {
      text: `${document} was set aside${why === undefined ? '' : `: ${why}`}`,
      zh: `${document} 被放到一边${why === undefined ? '' : `：${REASONS_ZH[why] ?? why}`}`,
    }
  return kind === 'conflict'
    ? {
        text: `Your edit of ${document} conflicts with a newer version`,
        zh: `您对 ${document} 的修改与较新的版本冲突`,
      }
    : { text: `An edit of ${document} was not taken and is kept`, zh: `${document} 的一次修改没有采用，已保留` }
}

const bodyOf = ({ document, path }: NewCopy): PeopleText => ({
  text: `It is in ${path}. The latest version of ${document} is in use, so what you wrote there has no effect yet.`,
  zh: `它在 ${path}。正在使用的是 ${document} 的最新版本，所以您写的内容还没有生效。`,
})

const SEEN: NeedChoice = {
  id: 'seen',
  text: { text: 'Seen', zh: '已看' },
  does: { text: 'Nothing changes; what was set aside stays where it is.', zh: '什么也不改变；放到一边的留在原处。' },
  command: null,
}

function choicesOf({ document, file, kind }: NewCopy): readonly NeedChoice[] {
  const input = { copy: file, document }
  const take: NeedChoice = {
    id: 'take',
    text: { text: 'Take it', zh: '采用' },
    does: {
      text: `Its text becomes the new version of ${document}; the current one stays in its history.`,
      zh: `它的文本成为 ${document} 的新版本；现在的版本留在历史里。`,
    },
    command: { name: 'state take', input },
  }
  const drop: NeedChoice = {
    id: 'drop',
    text: { text: 'Delete it', zh: '删除' },
    does: { text: 'Deletes this copy. It cannot be restored.', zh: '删除这份副本，无法恢复。' },
    command: { name: 'state discard', input },
  }
  return kind === 'torn' ? [SEEN, drop] : [SEEN, take, drop]
}
