/** The completion script for zsh. */

import { choiceCases, flagsWithValue, quoted, type Verb } from './grammar.ts'

export function zshScript(verbs: readonly Verb[]): string {
  const paths = verbs.filter(({ path }) => path !== '').map(({ path }) => quoted(path))
  return `_tireless() {
  local cur=\${words[CURRENT]} prev=\${words[CURRENT-1]} verbs='' skip='' i word
  local -a found
  for ((i = 2; i < CURRENT; i++)); do
    word=\${words[i]}
    if [[ -n $skip ]]; then skip=''; continue; fi
    case $word in
      (${flagsWithValue(verbs).join('|')}) skip=1 ;;
      (-*) ;;
      (*) case "\${verbs:+$verbs }$word" in
        (${paths.join('|')}) verbs="\${verbs:+$verbs }$word" ;;
      esac ;;
    esac
  done
  case "$verbs $prev" in
${choiceCases(verbs, (patterns, choices) => `(${patterns}) found=(${choices.map(quoted).join(' ')}) ;;`)}
  esac
  if (( $#found )); then compadd -- $found; return; fi
  case $prev in (${flagsWithValue(verbs).join('|')}) _files; return ;; esac
  case "$verbs" in
${verbs.map(wordCase).join('\n')}
  esac
  if (( $#found )); then _describe tireless found; else _files; fi
}
if [[ $funcstack[1] == _tireless ]]; then _tireless "$@"; else compdef _tireless tireless; fi
`
}

function wordCase({ path, verbs, options, values }: Verb): string {
  const described = (name: string, help: string): string => quoted(`${name.replaceAll(':', '\\:')}:${help}`)
  const names = [...verbs.map(({ name, summary }) => described(name, summary)), ...values.map(quoted)]
  const flags = options.flatMap((option) => option.flags.map((flag) => described(flag, option.help)))
  const [whenFlag, otherwise] = [flags.join(' '), names.join(' ')]
  return `    (${quoted(path)}) if [[ $cur == -* ]]; then found=(${whenFlag}); else found=(${otherwise}); fi ;;`
}
