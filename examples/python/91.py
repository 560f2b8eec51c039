"""The twin of 91-titles-in-processes: submit() to a ProcessPoolExecutor, results in order."""
import concurrent.futures
import http.server
import re
import threading
import time
import urllib.request

NUMBERS = range(6100, 6107)


class Lesson(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        number = int(self.path[1:])
        time.sleep(0.2 - 0.02 * (number % 7))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"<html><h1>Lesson {number}</h1></html>".encode())

    def log_message(self, *args):
        pass


def title_of(url):
    with urllib.request.urlopen(url) as response:
        return re.search("<h1>(.*?)</h1>", response.read().decode())[1]


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Lesson)
    with concurrent.futures.ProcessPoolExecutor(len(NUMBERS)) as pool:
        # The first submit() forks the workers, so no thread may run yet.
        futures = [pool.submit(title_of, f"http://127.0.0.1:{server.server_port}/{number}")
                   for number in NUMBERS]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for future in futures:
            print(future.result())
    server.shutdown()


if __name__ == "__main__":
    main()
