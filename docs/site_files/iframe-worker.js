/* Search from disk: a browser starts no worker for a page of file://, so the worker's script runs in a hidden frame.
   The name IFrameWorker is what the search script of the theme looks for. */
;(function () {
  if (location.protocol !== "file:") return
  class IFrameWorker extends EventTarget {
    constructor(url) {
      super()
      this.onmessage = null
      this.waiting = []
      const frame = document.createElement("iframe")
      frame.hidden = true
      frame.title = "search"
      document.body.appendChild(frame)
      this.window = frame.contentWindow
      this.window.postMessage = (data) => {
        const event = new MessageEvent("message", { data })
        this.dispatchEvent(event)
        if (this.onmessage) this.onmessage(event)
      }
      this.window.importScripts = (...urls) =>
        urls.reduce((before, one) => before.then(() => this.load(one)), Promise.resolve())
      this.load(String(url)).then(() => {
        this.waiting.forEach((data) => this.deliver(data))
        this.waiting = null
      })
    }
    load(url) {
      return new Promise((resolve, reject) => {
        const script = this.window.document.createElement("script")
        script.src = url
        script.onload = resolve
        script.onerror = () => reject(new Error("cannot load " + url))
        this.window.document.body.appendChild(script)
      })
    }
    deliver(data) {
      this.window.dispatchEvent(new MessageEvent("message", { data }))
    }
    postMessage(data) {
      if (this.waiting) this.waiting.push(data)
      else this.deliver(data)
    }
    terminate() {
      this.window.frameElement.remove()
    }
  }
  window.IFrameWorker = IFrameWorker
  window.Worker = IFrameWorker
})()
