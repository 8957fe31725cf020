/** File names in sentences: letters and digits of every script, and nothing that only looks like a name. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseSteps } from './parse-steps.ts'

const pathsIn = (task: string): readonly string[] =>
  parseSteps(task).flatMap((step) => ('path' in step ? [step.path] : []))

const SENTENCES: readonly (readonly [sentence: string, path: string])[] = [
  ['创建文件 笔记.md，内容为“明天开会”', '笔记.md'],
  ['创建文件笔记.md内容为“明天开会”', '笔记.md'],
  ['create résumé.md with the text "x"', 'résumé.md'],
  ['create a file called résumé with the text "x"', 'résumé'],
  ['write "x" to 日记/2024年.md', '日记/2024年.md'],
  ['在 笔记.md 末尾追加一行“b”', '笔记.md'],
  ['读取 笔记.md 的内容', '笔记.md'],
  ['生成一份简报到 reports/总结收件箱.md', 'reports/总结收件箱.md'],
  ['创建文件 “我的 笔记.md”，内容为“x”', '我的 笔记.md'],
]

const LETTER = fc
  .integer({ min: 0x21, max: 0x1ffff })
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))
  .filter((one) => /^[\p{L}\p{N}]$/u.test(one))
const NAME = fc.array(LETTER, { minLength: 1, maxLength: 12 }).map((letters) => letters.join(''))
/** The words that make the model skip a sentence or end a clause may be a part of a name only in quotes. */
const HAS_A_MEANING = /不|别|勿|若|每|次|再|把|将|向|在|后|步|件/u

describe('names of files in sentences for the offline model', () => {
  for (const [sentence, path] of SENTENCES)
    test(`${sentence} → ${path}`, () => assert.deepEqual(pathsIn(sentence), [path]))

  test('words that name no file make no file', () => {
    for (const words of ['创建文件夹', '新建文件夹照片', '整理报告模板.md', '创建三个.md文件', '写一首诗'])
      assert.deepEqual(pathsIn(words), [], words)
  })

  test('a name of letters and digits of any script is read exactly as it stands', () => {
    fc.assert(
      fc.property(NAME, (name) => {
        assert.deepEqual(pathsIn(`create "${name}.md" with the text "x"`), [`${name}.md`])
        if (!HAS_A_MEANING.test(name)) assert.deepEqual(pathsIn(`write "x" to ${name}.md`), [`${name}.md`])
      }),
      { numRuns: 300 },
    )
  })

  test('without quotes, a name has no characters that hide, look like a separator or end a line', () => {
    const hostile = fc.constantFrom(
      ...'\u202e\u2066\u200b\u200f\u2215\u29f8\uff0f\u2024\uff0e\ufe68\\:*|<>\0\x1b\u2028',
    )
    fc.assert(
      fc.property(NAME, hostile, NAME, (before, character, after) => {
        const found = pathsIn(`write "x" to ${before}${character}${after}.md`)
        for (const path of found) assert.ok(!path.includes(character), JSON.stringify(path))
      }),
      { numRuns: 300 },
    )
  })
})
