/** HTML to text: what a page displays, as Markdown, and pages that are made to keep the program busy. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { htmlToText } from './html-to-text.ts'

const convert = (html: string): string => htmlToText(html, 'http://h.test/d/').text

const PAGES: readonly (readonly [what: string, html: string, text: string])[] = [
  ['named and numeric character references', '&lt;b&gt; &Eacute;&rarr;&hearts;&#x1F600; &copy 1', '<b> É→♥😀 © 1'],
  ['a reference that is written as text', '&amp;lt; &unknown;', '&lt; &unknown;'],
  ['invalid code points', '&#0;&#xD800;&#x110000;', '\ufffd\ufffd\ufffd'],
  ['spaces across tags', 'a <b> b </b> c&nbsp;d', 'a b c d'],
  ['line breaks', 'a<br>b<br><br>c<hr>d', 'a\nb\n\nc\n\nd'],
  ['headings', '<h2><div>H</div></h2><h3></h3>x', '## H\n\nx'],
  ['nested lists', '<ul><li>a<ul><li>b<li><p>c</p></ul><li></li><li>d</ul>', '- a\n  - b\n  - c\n- d'],
  ['numbered lists', '<ol><li>x<li>y</ol>z', '1. x\n2. y\n\nz'],
  [
    'tables',
    '<table><tr><th>A<th>B<tr><td><p>1</p><td></td></tr><tr><td>2<td>3</table>z',
    '| A | B\n| 1 |\n| 2 | 3\n\nz',
  ],
  ['preformatted text', '<pre>\nif x:\n    <b>y</b>\n\n\n  z\n</pre>w', 'if x:\n    y\n\n\n  z\n\nw'],
  ['links', '<a title="a > b" href="/q?a=1&amp;b=2">x</a>', '[x](http://h.test/q?a=1&b=2)'],
  ['relative and unclosed links', '<a href=x>one<a href=//k.test>two', '[one](http://h.test/d/x)[two](http://k.test/)'],
  ['links to nowhere', '<a href="#top">a</a><a href=javascript:b()>b</a><a href=/e> </a><a>c</a>', 'ab c'],
  ['images', '<img alt="p &amp; q" src=x><img src=y><img alt="unfinished', '[image: p & q]'],
  ['scripts and styles', '<script>if (a < b) "<p>no</p>"</script>ok<style>p{}</style><noscript>no</noscript>', 'ok'],
  ['drawings', '<svg><title>no</title><text>no</text></svg>a<svg/>b', 'ab'],
  ['nested hidden elements', '<template><template>no</template>no</template>yes', 'yes'],
  ['comments and declarations', 'a<!-- x > y -- > z -->b<!doctype html><![CDATA[no]]>c', 'abc'],
  ['signs that start no tag', 'a < b, 1<2, <3 <> &', 'a < b, 1<2, <3 <> &'],
  ['unclosed tags', '<div><p>one<p>two<b>three</div>four', 'one\n\ntwothree\n\nfour'],
  ['Chinese', '<h1>中文 标题</h1><p>你好，世界 &#20320;</p>', '# 中文 标题\n\n你好，世界 你'],
]

describe('HTML to text', () => {
  for (const [what, html, text] of PAGES)
    test(`${what} are converted to plain text`, () => assert.equal(convert(html), text))

  test('the title is the first one, and is not part of the text', () => {
    const page = htmlToText('<title>A &amp;\n B</title><title>C</title>x', 'http://h.test/')
    assert.deepEqual(page, { title: 'A & B', text: 'x' })
  })

  // Of a size at which more than linear time would be minutes.
  for (const unit of ['<', '</b>', '<a href=/x>', '<ul><li>x', '<td><li>', '<p a', '&', '<!--', '<svg>', '<pre>\n'])
    test(`a long page of open tags and ${JSON.stringify(unit)} is converted in linear time`, () => {
      const { text } = htmlToText('<i>'.repeat(100_000) + unit.repeat(300_000 / unit.length), 'http://h.test/')
      assert.ok(text.length < 3_000_000)
    })
})
