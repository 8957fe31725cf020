/**
 * Checks of the language: one declaration per exported name, no banned words in names, short lines, a glossary that is
 * used.
 */

import { basename } from 'node:path'
import type { Tree } from './check.ts'
import { isTest } from './rules.ts'

export const LONGEST_LINE = 120
export const MOST_GLOSSARY_WORDS = 80

/** Metaphors of the earlier code. Each stands for a word of the field, which is used instead. */
const BANNED = [
  ...['ailment', 'beside', 'clearance', 'doorbell', 'fittings', 'foretold', 'furnish', 'gist', 'hands', 'heard'],
  ...['insistence', 'leash', 'layered', 'nobody', 'postbox', 'prospect', 'purse', 'quarantined', 'rein', 'reins'],
  ...['remind', 'setback', 'shown', 'sight', 'somebody', 'stain', 'surroundings', 'told', 'unfit', 'whoever', 'wish'],
  ...['wishes', 'yardstick'],
]

const DECLARATION =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) ([\w$]+)/gm

const exportsOf = (source: string): readonly string[] => [
  ...new Set([...source.matchAll(DECLARATION)].map(([, name = '']) => name)),
]

/** `tree`: by path. Re-exports are no declarations. */
export function exportedTwice(tree: Tree): readonly string[] {
  const files = new Map<string, string[]>()
  for (const [path, source] of tree)
    if (!isTest(path)) for (const name of exportsOf(source)) files.set(name, [...(files.get(name) ?? []), path])
  return [...files]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name} is exported by ${paths.join(' and ')}`)
}

export function bannedWords(tree: Tree): readonly string[] {
  return [...tree].flatMap(([path, source]) => {
    const file = basename(path).replace(/\..*/, '')
    const names = [file, ...(isTest(path) ? [] : exportsOf(source))]
    return names.flatMap((name) =>
      wordsIn(name)
        .filter((word) => BANNED.includes(word))
        .map((word) => `${path}: the name ${name} has the banned word "${word}"`),
    )
  })
}

/** `readyToRun`, `ready-to-run` and `READY_TO_RUN` have three words. */
const wordsIn = (name: string): readonly string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)

export function longLines(tree: Tree): readonly string[] {
  return [...tree].flatMap(([path, source]) =>
    source.split('\n').flatMap((line, index) => {
      const { length } = [...line]
      return length > LONGEST_LINE ? [`${path}:${index + 1} has ${length} characters`] : []
    }),
  )
}

/** The words that a glossary defines, from the rows of its tables. */
export const glossaryWords = (markdown: string): readonly string[] =>
  [...markdown.matchAll(/^\| \*\*([^*]+)\*\* \|/gm)].map(([, word = '']) => word)

/** Words that stand in no source, neither in a name nor in a comment. */
export function unusedWords(words: readonly string[], tree: Tree): readonly string[] {
  const text = [...tree.values()].join('\n')
  return words.filter((word) => !new RegExp(word.split(/[\s-]+/).join('[\\s_-]?'), 'i').test(text))
}
