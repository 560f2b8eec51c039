import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;

/** Prints its port and serves until the end of its standard input. */
class Server {
        public static void main(String[] args) throws Exception {
                MongoServer server = new MongoServer(new MemoryBackend());

                System.out.println(server.bind().getPort());
                while (System.in.read() >= 0) {
                }
                server.shutdownNow();
        }
}
