import assert from 'node:assert/strict'
import { test } from 'node:test'
import { languageOf } from './language.ts'

const TEXTS: readonly (readonly [text: string, language: 'en' | 'zh'])[] = [
  ['Write hello.md', 'en'],
  ['Send 张伟 an email about the meeting', 'en'],
  ['create a file 笔记.md with the text “明天开会”', 'en'],
  ['Translate "你好，世界，大家早上好" into English, please', 'en'],
  ['The answer is in 日记/2024.md, which I wrote now', 'en'],
  ['写 hello.md', 'zh'],
  ['跑 npm test', 'zh'],
  ['帮我 review 这个 pull request', 'zh'],
  ['用 create_file 写 notes/today.md，内容为 "the weather is good today"', 'zh'],
  ['创建文件 hello.md，内容为“good morning to all of you”', 'zh'],
  ['“你好”', 'zh'],
  ['把内容写到笔记.md', 'zh'],
  ['毎日の報告を書いてください', 'en'],
]

for (const [text, language] of TEXTS)
  test(`the language of a text is that of most of it: ${text}`, () => assert.equal(languageOf(text), language))

test('the language of a long text takes no long time to see', () => {
  for (const part of ['a.', 'a', '你', '“', '"', '/', '_ '])
    assert.equal(languageOf(`${part.repeat(200_000)} 你`), 'zh', part)
})
