// What can be done with a preview. All text is put in as text, nothing is made of markup.

const main = document.querySelector('main')
const preview = JSON.parse(main.dataset.preview ?? '{}')
const status = document.getElementById('status')
const find = id => document.getElementById(id)

/// A version 4 UUID. `crypto.randomUUID` is there only where the page came over TLS or from this machine.
const uuid = () => {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = bytes[6] & 0x0f | 0x40
  bytes[8] = bytes[8] & 0x3f | 0x80
  const digits = [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('')
  return digits.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5')
}

/// What turns directions would turn what stands beside it.
const straight = text => text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, escaped)

const escaped = characters => [...Array(characters.length).keys()]
  .map(index => '\\u' + characters.charCodeAt(index).toString(16).padStart(4, '0')).join('')

const say = text => { status.textContent = straight(text) }

const element = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties)
  element.append(...children)
  return element
}

/// JSON for people: what would turn or hide text is escaped.
const shown = value => JSON.stringify(value, null, 2).replace(/(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/gu, escaped)

// How it is looked at

const form = document.querySelector('form.appearance')

const look = () => {
  const root = document.documentElement
  const values = new URLSearchParams(new FormData(form))
  const width = Number(values.get('width'))
  root.dataset.theme = values.get('theme')
  root.dataset.text = values.get('text')
  if (width >= 320 && width <= 430) root.style.setProperty('--phone', `${width}px`)
  for (const phone of document.querySelectorAll('.phone')) phone.dir = values.get('direction')
  // So that a reload shows the same. A page with an origin of its own may be denied that.
  try { history.replaceState(null, '', `?${values}`) } catch {}
}

form.addEventListener('change', look)
form.addEventListener('submit', event => { event.preventDefault(); look() })

// The opened notification

const names = { default: 'com.apple.UNNotificationDefaultActionIdentifier',
  dismiss: 'com.apple.UNNotificationDismissActionIdentifier' }

const opened = () => {
  const phone = find('phone')
  const [list, stage, label] = [find('actions'), find('stage'), find('label')]
  const [unlocking, texting] = [find('unlocking'), find('texting')]
  const texts = Object.fromEntries(
    [...document.querySelectorAll('[data-text]')].filter(line => phone.contains(line))
      .map(line => [line.dataset.text, { line, own: line.hidden ? null : line.textContent }]))
  const app = find('app').textContent
  let session, actions, view, isUnlocked, isBusy, asked

  const screen = (name, focused) => {
    for (const screen of phone.querySelectorAll('[data-screen]')) screen.hidden = screen.dataset.screen !== name
    const target = focused ?? phone
    target.focus({ preventScroll: true })
  }

  const setBusy = busy => {
    isBusy = busy
    for (const button of phone.querySelectorAll('[data-screen=open] button')) button.disabled = busy
  }

  const showActions = () => {
    const focused = document.activeElement?.dataset?.action
    const wasInside = list.contains(document.activeElement)
    list.replaceChildren(...actions.map(action => {
      const title = element('span', { className: 'action' }, element('bdi', { textContent: action.title }))
      if (action.options?.includes('destructive')) title.classList.add('destructive')
      const button = element('button', { type: 'button', disabled: isBusy }, title)
      button.dataset.action = action.id
      return element('li', {}, button)
    }))
    if (wasInside) (buttonOf(focused) ?? phone).focus({ preventScroll: true })
  }

  const buttonOf = id => [...list.querySelectorAll('button')].find(button => button.dataset.action === id)

  const show = (next, before) => {
    view = next
    for (const medium of stage.querySelectorAll('.medium')) {
      medium.style.transform = view.rotation ? `rotate(${view.rotation}deg)` : ''
      // A slider's opacity stays until somebody else sets another.
      if (view.opacity !== before?.opacity) medium.style.opacity = view.opacity
    }
    const media = [...stage.querySelectorAll('.medium')]
    const chosen = media.find(medium => medium.dataset.attachment === view.attachment)
    if (chosen) for (const medium of media) medium.hidden = medium !== chosen
    for (const [name, { line, own }] of Object.entries(texts)) {
      const text = view[name] ?? own
      line.hidden = !text
      line.firstElementChild.textContent = text ?? ''
    }
    // An extension's title stands where the app's name does.
    if (preview.overridesTitle) find('app').replaceChildren(element('bdi', { textContent: view.title ?? app }))
    label.hidden = !view.label
    label.replaceChildren(element('bdi', { textContent: view.label?.text ?? '' }))
    label.dataset.color = view.label?.color ?? ''
  }

  const begin = () => {
    session = uuid()
    actions = preview.actions
    isUnlocked = false
    cancel()
    setBusy(false)
    show({ rotation: 0, opacity: 1 })
    for (const slider of phone.querySelectorAll('[data-sets]')) {
      slider.value = slider.defaultValue
      slide(slider)
    }
    showActions()
  }

  // Closing

  const close = () => {
    screen('list', find('again'))
    find('again').textContent = find('list').children.length ? 'Open the notification' : 'Deliver it again'
  }

  const remove = () => {
    find('list').replaceChildren()
    find('none').hidden = false
    close()
  }

  const notification = find('list').firstElementChild
  find('again').addEventListener('click', () => {
    find('list').replaceChildren(notification)
    find('none').hidden = true
    begin()
    screen('open')
  })
  find('back').addEventListener('click', close)

  const tellApp = response => {
    const told = { actionIdentifier: names[response.action] ?? response.action }
    if (response.text !== undefined) told.userText = response.text
    return told
  }

  // Responding

  const log = (response, outcome, answer) => {
    find('no-responses').hidden = true
    find('responses').append(element('li', {}, element('details', {},
      element('summary', { textContent: straight(`${response.action}: ${outcome}`) }),
      element('pre', { textContent: shown(response) }),
      element('pre', { textContent: shown(answer) }))))
  }

  const post = async response => {
    const own = { id: response.id, then: 'forward', actions, view, decided_by: 'default' }
    if (!preview.respond) return own
    const reply = await fetch(preview.respond, { method: 'POST', credentials: 'omit',
      headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(response) })
    const answer = await reply.json()
    if (!reply.ok) throw Object.assign(new Error(answer.detail ?? `The server answered ${reply.status}.`), { answer })
    return answer
  }

  const respond = async (action, { text, opensApp = false } = {}) => {
    if (isBusy) return
    const response = { id: uuid(), session, action: action, data: null, at: new Date().toISOString() }
    if (text !== undefined) response.text = text
    setBusy(true)
    say('Waiting for an answer…')
    let answer
    try {
      answer = await post(response)
    } catch (error) {
      log(response, 'no answer', error.answer ?? { error: error.message })
      say(error.message)
      return setBusy(false)
    }
    const before = view
    const focused = document.activeElement?.dataset?.action ?? action
    actions = answer.actions
    show(answer.view, before)
    const said = answer.view.label?.text && answer.view.label.text !== before.label?.text
      ? ` ${answer.view.label.text}` : ''
    // The system's own are the app's, whoever answers others.
    const decided = answer.decided_by === 'default' && !(action in names) ? ' (no handler answered)' : ''
    if (answer.then === 'forward') {
      log(response, `forwarded to the app${decided}`, { app: tellApp(response), answer })
      say(`Forwarded to the app${decided}: ${tellApp(response).actionIdentifier}.${said}`)
      setBusy(false)
      showActions()
      if (opensApp) {
        find('told').textContent = shown(tellApp(response))
        return screen('app', find('back'))
      }
      return close()
    }
    log(response, answer.then === 'stay' ? 'stays open' : 'closes', answer)
    if (answer.then === 'dismiss') {
      say(`The notification closes.${said}`)
      showActions()
      // So long its new view is seen.
      await new Promise(resolve => setTimeout(resolve, 1000))
      setBusy(false)
      return close()
    }
    setBusy(false)
    showActions()
    say(`The notification stays open. Actions: ${actions.map(action => action.title).join(', ') || 'none'}.${said}`)
    ;(buttonOf(focused) ?? list.querySelector('button') ?? phone).focus({ preventScroll: true })
  }

  // Asking first

  const cancel = () => {
    const id = asked?.id
    asked = undefined
    for (const question of [unlocking, texting]) question.hidden = true
    list.hidden = false
    if (id) buttonOf(id)?.focus({ preventScroll: true })
  }

  const ask = (action, question, focused) => {
    asked = action
    for (const other of [unlocking, texting]) other.hidden = other !== question
    list.hidden = true
    focused.focus({ preventScroll: true })
  }

  const act = action => {
    if (action.options?.includes('authentication_required') && !isUnlocked) {
      return ask(action, unlocking, find('unlock'))
    }
    if (action.text_input) {
      find('text-label').textContent = action.title
      find('text').placeholder = action.text_input.placeholder ?? ''
      find('text').value = ''
      find('send').textContent = action.text_input.button_title
      return ask(action, texting, find('text'))
    }
    cancel()
    respond(action.id, { opensApp: action.options?.includes('foreground') })
  }

  list.addEventListener('click', event => {
    const id = event.target.closest('button')?.dataset.action
    const action = actions.find(action => action.id === id)
    if (action && !isBusy) act(action)
  })
  find('unlock').addEventListener('click', () => {
    isUnlocked = true
    act(asked)
  })
  texting.addEventListener('submit', event => {
    event.preventDefault()
    const action = asked
    const text = find('text').value
    cancel()
    respond(action.id, { text, opensApp: action.options?.includes('foreground') })
  })
  for (const question of [unlocking, texting]) {
    question.querySelector('[data-cancel]').addEventListener('click', cancel)
    question.addEventListener('keydown', event => { if (event.key === 'Escape') cancel() })
  }

  // What is always there, and the view's own controls

  const openApp = () => respond('default', { opensApp: true })
  find('open').addEventListener('click', openApp)
  find('dismiss').addEventListener('click', () => preview.dismissal ? respond('dismiss') : close())

  const slide = slider => {
    for (const medium of stage.querySelectorAll('.medium')) medium.style.opacity = slider.value
  }
  const effects = { open: openApp, dismiss: close, remove }
  for (const button of phone.querySelectorAll('[data-does]')) {
    button.addEventListener('click', () => effects[button.dataset.does]())
  }
  for (const slider of phone.querySelectorAll('[data-sets]')) {
    slider.addEventListener('input', () => slide(slider))
  }
  for (const button of phone.querySelectorAll('[data-play]')) {
    button.addEventListener('click', () => {
      const medium = button.closest('.medium')
      medium.querySelector('source').remove()
      medium.classList.add('playing')
      medium.closest('.phone').focus({ preventScroll: true })
    })
  }

  begin()
}

if (find('phone')) opened()

// What is newer

const follow = async ({ path, version }) => {
  let failures = 0
  while (true) {
    await new Promise(resolve => setTimeout(resolve, failures > 2 ? 5000 : 500))
    if (document.hidden) continue
    try {
      const reply = await fetch(path, { credentials: 'omit', cache: 'no-store' })
      const newest = await reply.json()
      if (newest.version !== version) return location.reload()
      if (failures > 2) say('')
      failures = 0
    } catch {
      failures += 1
      if (failures === 3) say('This page no longer updates: satchel preview has ended.')
    }
  }
}

if (preview.follow) follow(preview.follow)
