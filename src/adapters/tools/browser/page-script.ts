/**
 * A script that runs in the page and returns the page's visible text and a numbered list of usable elements. The page
 * can falsify the result, so the result is untrusted.
 */

const MOST_CHARACTERS = 30_000
const MOST_ELEMENTS = 300

/** Contract: an expression with the value `{text, elements}`; element number n is `elements[n - 1]`. */
export const PAGE_SCRIPT = `(() => {
  const SKIPPED = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'SVG', 'HEAD', 'IFRAME', 'OBJECT'])
  const BLOCK = /^(block|flex|grid|list-item|table|table-row|flow-root)$/
  const ROLES = ['button', 'link', 'checkbox', 'tab', 'menuitem', 'option']
  const USABLE = 'a[href],button,input,textarea,select,summary,[contenteditable=true],' +
    ROLES.map((role) => '[role=' + role + ']').join(',')
  const elements = []
  const out = []
  let length = 0
  const say = (text) => { if (length < ${MOST_CHARACTERS}) { out.push(text); length += text.length } }
  const flat = (text) => (text || '').replace(/\\s+/g, ' ').trim().slice(0, 200)
  const labelOf = (element) =>
    flat(element.getAttribute('aria-label')) ||
    (element.tagName === 'SELECT' ? '' : flat(element.innerText)) ||
    flat(element.labels && element.labels[0] && element.labels[0].innerText) ||
    flat(element.placeholder) || flat(element.title) || flat(element.alt) || flat(element.name)
  const kindOf = (element) => {
    const tag = element.tagName.toLowerCase()
    if (tag === 'a') return 'link'
    if (tag === 'input') return 'input ' + (element.type || 'text')
    return element.getAttribute('role') || tag
  }
  const stateOf = (element) => {
    if (element.type === 'password') return ''
    if (element.type === 'checkbox' || element.type === 'radio') return element.checked ? ' (on)' : ' (off)'
    if (element.tagName === 'SELECT') {
      const options = [...element.options].slice(0, 20).map((one) => (one.selected ? '*' : '') + one.text)
      return ' (' + flat(options.join(' / ')) + ')'
    }
    return element.value && element.tagName !== 'BUTTON' ? ' = ' + JSON.stringify(flat(String(element.value))) : ''
  }
  const visit = (node) => {
    if (node.nodeType === 3) return say(node.data.replace(/\\s+/g, ' '))
    if (node.nodeType !== 1 || SKIPPED.has(node.tagName.toUpperCase()) || length >= ${MOST_CHARACTERS}) return
    const style = getComputedStyle(node)
    if (style.display === 'none' || style.visibility === 'hidden' || node.type === 'hidden') return
    const block = BLOCK.test(style.display)
    if (block) say('\\n')
    const heading = /^H([1-6])$/.exec(node.tagName)
    if (heading) say('#'.repeat(Number(heading[1])) + ' ')
    if (node.matches(USABLE) && elements.length < ${MOST_ELEMENTS}) {
      elements.push(node)
      say(' [' + elements.length + ' ' + kindOf(node) + ': ' + labelOf(node) + stateOf(node) + '] ')
    } else if (node.tagName === 'BR') say('\\n')
    else if (node.tagName === 'IMG') say(node.alt ? '[image: ' + flat(node.alt) + ']' : '')
    else for (const child of (node.shadowRoot || node).childNodes) visit(child)
    if (block) say('\\n')
  }
  if (document.body) visit(document.body)
  const text = out.join('').replace(/[ \\t]+/g, ' ').replace(/ ?\\n ?/g, '\\n').replace(/\\n{3,}/g, '\\n\\n').trim()
  return { text: length >= ${MOST_CHARACTERS} ? text + '\\n[cut here]' : text, elements }
})()`
